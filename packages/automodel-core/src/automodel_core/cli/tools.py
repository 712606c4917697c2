"""The core's own commands, each a module with ``main(line, catalog) -> exit code``. Imported when they are used."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs


@attrs.frozen
class Tool:
    """``module`` runs the command; ``usage`` are the words it takes."""

    module: str
    usage: str
    summary: str


TOOLS: Final[Mapping[str, Tool]] = MappingProxyType(
    {
        "assets": Tool("automodel_core.cli.assets_tool", "assets list|fetch|path", "small real models and data"),
        "checkpoint": Tool("automodel_core.cli.checkpoint_tool", "checkpoint merge DIR OUT", "work on a checkpoint"),
        "config": Tool("automodel_core.cli.config_tool", "config validate|show CFG", "check or print a config"),
        "data": Tool("automodel_core.cli.data_tool", "data preview -c CFG", "show what a run would train on"),
        "doctor": Tool("automodel_core.cli.doctor_tool", "doctor", "check this machine and what is installed"),
        "explain": Tool("automodel_core.cli.explain_tool", "explain CODE", "say more about a diagnostic"),
        "recipes": Tool("automodel_core.cli.recipes_tool", "recipes list|copy", "complete configs to start from"),
        "plugins": Tool("automodel_core.cli.plugins_tool", "plugins list", "list the installed plugins"),
    }
)
