"""How plugins are switched off, trusted and made strict: the environment and the project file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import attrs

from automodel_core.plugins.project_file import ProjectFile, read_project_file

STRICT_VARIABLE = "AUTOMODEL_STRICT_PLUGINS"
DISABLE_VARIABLE = "AUTOMODEL_DISABLE_PLUGINS"


@attrs.frozen
class PluginSettings:
    """What the user says about plugins. ``disabled`` are names of plugins or of distributions."""

    strict: bool = False
    disabled: frozenset[str] = frozenset()
    project: ProjectFile = attrs.field(factory=ProjectFile)

    def disables(self, *names: str) -> bool:
        """Say whether one of ``names`` is disabled, in whatever spelling of a distribution's name."""
        return not {normalised(name) for name in names}.isdisjoint(normalised(name) for name in self.disabled)

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, directory: Path | None = None) -> PluginSettings:
        """Read the environment and the project file of ``directory`` (by default those of the process).

        Raise :class:`InputError` when the project file cannot be read or says something it cannot say.
        """
        environment = os.environ if environment is None else environment
        project = read_project_file(Path.cwd() if directory is None else directory)
        named = (name.strip() for name in environment.get(DISABLE_VARIABLE, "").split(","))
        return cls(
            strict=environment.get(STRICT_VARIABLE, "").strip().lower() not in ("", "0", "false", "no"),
            disabled=frozenset(name for name in named if name) | frozenset(project.disable),
            project=project,
        )


def normalised(distribution: str) -> str:
    """Return the one spelling of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
