"""What each override changed: the value before and after it."""

from __future__ import annotations

from typing import Any

import attrs

from automodel_core.config.dump import dump_value
from automodel_core.config.nodes import Node
from automodel_core.config.override_tokens import Override
from automodel_core.config.paths import Path
from automodel_core.config.run_config import RunConfig, default_section
from automodel_core.config.schemas import schema_fields
from automodel_core.config.secrets import without_secrets


@attrs.frozen
class Change:
    """``old`` and ``new`` are texts, as a value stands after ``=``; ``source`` is where the old one is from."""

    key: str
    old: str
    new: str
    source: str

    def __str__(self) -> str:
        return f"{self.key}: {self.old} -> {self.new}"


def changes(config: RunConfig) -> tuple[Change, ...]:
    """Return a change for each override, in their order; secrets are hidden."""
    return tuple(_change(override, config) for override in config.overrides)


def changes_text(config: RunConfig) -> str:
    """Return a line for each override: ``key: old -> new  # where the old value is from``."""
    found = [(str(change), change.source) for change in changes(config)]
    width = min(max((len(text) for text, _ in found), default=0), 72)
    return "".join(f"{text:<{width}}  # was {source}\n" for text, source in found)


def _change(override: Override, config: RunConfig) -> Change:
    before = None if config.before is None else config.before.at(override.path)
    after = config.document.at(override.path)
    new = _shown(override, after)
    if before is not None:
        return Change(override.name, _shown(override, before), new, str(before.span))
    default = _default(override.path, config)
    return Change(override.name, *(("(not set)", new, "not set") if default is None else (default, new, "the default")))


def _shown(override: Override, node: Node | None) -> str:
    if node is None:
        return "(deleted)"
    return _text(override.path, node.to_data())


def _text(path: Path, value: Any) -> str:
    return dump_value(without_secrets({path[-1]: value})[path[-1]])


def _default(path: Path, config: RunConfig) -> str | None:
    """Return the default of a key of a typed section, or ``None`` for a key that has none."""
    spec = config.vocabulary.sections.get(str(path[0]))
    if spec is None or len(path) != 2 or path[1] not in schema_fields(spec):
        return None
    defaults = default_section(spec.schema)
    return None if defaults is None else _text(path, attrs.asdict(defaults)[str(path[1])])
