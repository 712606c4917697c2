"""Keys of other systems that ask for what is done anyway: they are taken out before sections are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from automodel_core.config.aliases import RenamedKey, same_data
from automodel_core.config.component import TARGET_KEY
from automodel_core.config.nodes import Entry, MappingNode, removed
from automodel_core.config.paths import parse_path
from automodel_core.diagnostics import Diagnostic
from automodel_core.specs import RetiredKey


@attrs.frozen
class WithoutRetired:
    """A config without the keys that say nothing here, which they were, and what such a component may not say."""

    document: MappingNode
    retired: tuple[RenamedKey, ...]
    problems: tuple[Diagnostic, ...]


def without_retired(document: MappingNode, table: Sequence[RetiredKey]) -> WithoutRetired:
    """Take out every key of the table whose value is one that it may have; deeper keys first.

    A component of the table has arguments that are in it too; any other, or another value, is a problem (AM217).
    """
    retired: list[RenamedKey] = []
    problems: list[Diagnostic] = []
    for known in sorted(table, key=lambda known: -known.key.count(".")):
        entry = document.entry_at(known.key)
        if entry is None or not _may_be_left_out(known, entry):
            continue
        problems.extend(_arguments_left(known.key, entry, table))
        root = removed(document, parse_path(known.key))
        assert isinstance(root, MappingNode)
        document = root
        retired.append(RenamedKey(known.key, None, entry.key_span, known.note, _asked_for(entry)))
    return WithoutRetired(document, tuple(retired), tuple(problems))


def _may_be_left_out(known: RetiredKey, entry: Entry) -> bool:
    if known.values is None:
        return True
    value = _asked_for(entry)
    return any(same_data(value, allowed) for allowed in known.values)


def _asked_for(entry: Entry) -> Any:
    """Return what a retired key holds; of a component, its target."""
    value = entry.node.to_data()
    return value.get(TARGET_KEY, value) if isinstance(value, dict) else value


def _arguments_left(key: str, entry: Entry, table: Iterable[RetiredKey]) -> Iterator[Diagnostic]:
    if not isinstance(entry.node, MappingNode):
        return
    for name, argument in entry.node.entries.items():
        if name != TARGET_KEY:
            value = argument.node.to_data()
            shown = f": {shown_value(value)}" if not isinstance(value, dict | list) else ""
            helps = tuple(filter(None, (advice_on(f"{key}.{name}", table),))) or ("remove it",)
            yield Diagnostic("AM217", f"`{key}.{name}{shown}` is not available", argument.key_span, "", helps)


def advice_on(key: str, table: Iterable[RetiredKey]) -> str:
    """Return what to do about ``key`` with a value that the table does not let pass, empty where it says nothing."""
    known = [entry for entry in table if entry.key == key and entry.values is not None]
    said = next((entry.otherwise for entry in known if entry.otherwise), "")
    if said or not known:
        return said
    allowed = [value for entry in known for value in entry.values or ()]
    return "it may only be " + " or ".join(f"`{shown_value(value)}`" for value in allowed)


def shown_value(value: Any) -> str:
    """Return a value as YAML has it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
