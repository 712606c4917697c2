"""Other spellings of keys, brought to ours in the nodes of a config, by the tables of the core and the plugins."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs

from automodel_core.config.nodes import Entry, MappingNode, Node, ScalarNode, removed, replaced
from automodel_core.config.paths import Path, parse_path
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.specs import KeyAlias

_MOST_PASSES: Final = 4
"""A key may move with its section, then take our name there."""


@attrs.frozen
class RenamedKey:
    """A key that was written in another spelling; ``new`` is ``None`` for one that says nothing here."""

    old: str
    new: str | None
    span: Span
    note: str = ""
    value: Any = None
    """What was written under it, as plain data."""


@attrs.frozen
class CanonicalKeys:
    """A config in our spelling, what was renamed, and the conflicts."""

    document: MappingNode
    renamed: tuple[RenamedKey, ...]
    problems: tuple[Diagnostic, ...]


def canonical_keys(document: MappingNode, aliases: Sequence[KeyAlias]) -> CanonicalKeys:
    """Rename every key that the table knows by another spelling; both spellings with different values conflict."""
    renamed: list[RenamedKey] = []
    problems: list[Diagnostic] = []
    for _ in range(_MOST_PASSES):
        before = len(renamed)
        for alias in aliases:
            entry = document.entry_at(alias.old)
            if entry is None:
                continue
            moved = _moved(document, alias, entry)
            if isinstance(moved, Diagnostic):
                problems.append(moved)
            else:
                document = moved
                data = entry.node.to_data()
                renamed.append(RenamedKey(_first_name(alias.old, renamed), alias.new, entry.key_span, alias.note, data))
        if problems or len(renamed) == before:
            break
    return CanonicalKeys(document, tuple(renamed), tuple(problems))


def _moved(document: MappingNode, alias: KeyAlias, entry: Entry) -> MappingNode | Diagnostic:
    old, new = parse_path(alias.old), parse_path(alias.new)
    value = translated(entry.node, alias)
    present = document.entry_at(new)
    root = _without(document, old)
    if present is not None and old[: len(new)] == new:
        # The key moves to where its own section stands, which must hold nothing else.
        assert isinstance(present.node, MappingNode)
        present = present if len(present.node.entries) > 1 else None
    if present is not None and _clash(present.node, value):
        return _conflict(alias, entry.key_span, present.key_span)
    asks_for_default = alias.values and _is_null(value)
    if (present is None or _is_null(present.node)) and not asks_for_default:
        # Where the section is no mapping, that is what is wrong, and it is said when the section is read.
        with contextlib.suppress(LookupError):
            root = replaced(root, new, value, entry.key_span)
    assert isinstance(root, MappingNode)
    return root


def _without(document: MappingNode, path: Path) -> Node:
    """Return the document without a key, and without a mapping inside a section that held nothing else."""
    *outer, _ = path
    parent = document.at(tuple(outer)) if len(outer) > 1 else None
    alone = isinstance(parent, MappingNode) and len(parent.entries) == 1
    return removed(document, tuple(outer) if alone else path)


def _first_name(old: str, renamed: Sequence[RenamedKey]) -> str:
    """Return what the user wrote for ``old``, of which the beginning may be a section that was renamed before."""
    for earlier in reversed(renamed):
        if earlier.new is not None and old.startswith(earlier.new + ".") and not earlier.old.startswith(earlier.new):
            return earlier.old + old[len(earlier.new) :]
    return old


def translated(node: Node, alias: KeyAlias) -> Node:
    """Return a value under our name for it."""
    if isinstance(node, ScalarNode):
        for theirs, ours in alias.values:
            if same_data(node.value, theirs):
                return attrs.evolve(node, value=ours)
    return node


def canonical_path(path: Path, aliases: Iterable[KeyAlias]) -> tuple[Path, KeyAlias | None]:
    """Return ``path`` in our spelling, and the last alias that it used."""
    used: KeyAlias | None = None
    table = tuple(aliases)
    for _ in range(_MOST_PASSES):
        names = tuple(str(step) for step in path)
        alias = next((alias for alias in table if _begins(names, alias)), None)
        if alias is None:
            break
        path, used = (*parse_path(alias.new), *path[len(parse_path(alias.old)) :]), alias
    return path, used


def _begins(names: tuple[str, ...], alias: KeyAlias) -> bool:
    old = parse_path(alias.old)
    return names[: len(old)] == old


def old_names(path: str, aliases: Iterable[KeyAlias]) -> tuple[str, ...]:
    """Return the other last names of the key at ``path``, of aliases that stay in its section."""
    names = []
    for alias in aliases:
        if alias.new == path and alias.old.rpartition(".")[0] == path.rpartition(".")[0]:
            names.append(alias.old.rpartition(".")[2])
    return tuple(names)


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is None


def _clash(one: Node, other: Node) -> bool:
    return not _is_null(one) and not _is_null(other) and not same_data(one.to_data(), other.to_data())


def same_data(one: object, other: object) -> bool:
    """Return whether two values mean the same in a config: ``1`` and ``1.0`` do, ``1`` and ``true`` do not."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _conflict(alias: KeyAlias, old: Span, new: Span) -> Diagnostic:
    return Diagnostic(
        "AM130",
        f"`{alias.old}` is another spelling of `{alias.new}`, and the two have different values",
        old,
        f"`{alias.new}` is written at {new}",
        (f"keep `{alias.new}`",),
    )
