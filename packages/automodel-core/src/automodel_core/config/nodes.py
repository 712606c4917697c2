"""A config as a tree of values that know where they were written.

The nodes are immutable; :func:`replaced` and :func:`removed` return a new tree that shares what did not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from automodel_core.config.paths import Path, Step, list_index, parse_path
from automodel_core.config.scalars import Scalar
from automodel_core.diagnostics import Span

Key = str | int


@attrs.frozen(eq=False)
class ScalarNode:
    """One value. ``quoted`` is true when the user wrote quotes (or a block of text), so that it must stay text."""

    value: Scalar
    span: Span
    quoted: bool = False

    def to_data(self) -> Scalar:
        return self.value

    def at(self, path: str | Path) -> Node | None:
        return node_at(self, path)


@attrs.frozen(eq=False)
class Entry:
    """One key of a mapping, where the key stands, and its value."""

    key: Key
    key_span: Span
    node: Node


@attrs.frozen(eq=False)
class MappingNode:
    """Keys in the order of the source."""

    entries: Mapping[Key, Entry]
    span: Span

    def to_data(self) -> dict[Any, Any]:
        return {key: entry.node.to_data() for key, entry in self.entries.items()}

    def at(self, path: str | Path) -> Node | None:
        return node_at(self, path)

    def entry_at(self, path: str | Path) -> Entry | None:
        """Return the entry that ``path`` ends in, or ``None`` when there is none or it ends in a list."""
        steps = parse_path(path) if isinstance(path, str) else path
        parent = node_at(self, steps[:-1])
        if not steps or not isinstance(parent, MappingNode):
            return None
        key = existing_key(parent, steps[-1])
        return None if key is None else parent.entries[key]


@attrs.frozen(eq=False)
class SequenceNode:
    """A list."""

    items: tuple[Node, ...]
    span: Span

    def to_data(self) -> list[Any]:
        return [item.to_data() for item in self.items]

    def at(self, path: str | Path) -> Node | None:
        return node_at(self, path)


Node = ScalarNode | MappingNode | SequenceNode


def node_at(node: Node, path: str | Path) -> Node | None:
    """Return the node that ``path`` leads to, or ``None``."""
    current: Node | None = node
    for step in parse_path(path) if isinstance(path, str) else path:
        current = None if current is None else child(current, step)
    return current


def child(node: Node, step: Step) -> Node | None:
    """Return the value of one key or the item at one index, or ``None``."""
    if isinstance(node, MappingNode):
        key = existing_key(node, step)
        return None if key is None else node.entries[key].node
    if isinstance(node, SequenceNode):
        index = list_index(step)
        if index is not None and -len(node.items) <= index < len(node.items):
            return node.items[index]
    return None


def existing_key(node: MappingNode, step: Step) -> Key | None:
    """Return the key of ``node`` that ``step`` means: itself, or the integer that it spells."""
    if step in node.entries:
        return step
    index = list_index(step)
    return index if index is not None and index in node.entries else None


def replaced(node: Node, path: Path, value: Node, key_span: Span) -> Node:
    """Return ``node`` with ``value`` at ``path``; missing mappings on the way are created, at ``key_span``.

    Raises:
        LookupError: when the path goes through a scalar or to an index that the list does not have; the argument is
            the part of the path that could not be entered. Appending at the index ``len`` is allowed.
    """
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(node, SequenceNode):
        return _replaced_item(node, step, rest, value, key_span)
    if isinstance(node, ScalarNode):
        if node.value is not None or isinstance(step, int):
            raise LookupError(step)
        node = MappingNode({}, key_span)
    found = existing_key(node, step)
    key: Key = step if found is None else found
    old = node.entries.get(key)
    below: Node = ScalarNode(None, key_span) if old is None else old.node
    entry = Entry(key, key_span, replaced(below, rest, value, key_span))
    if old is not None and rest:
        entry = attrs.evolve(entry, key_span=old.key_span)
    return attrs.evolve(node, entries={**node.entries, key: entry})


def _replaced_item(node: SequenceNode, step: Step, rest: Path, value: Node, key_span: Span) -> SequenceNode:
    index = list_index(step)
    length = len(node.items)
    if index is None or not -length <= index <= length:
        raise LookupError(step)
    position = index + length if index < 0 else index
    below: Node = ScalarNode(None, key_span) if position == length else node.items[position]
    item = replaced(below, rest, value, key_span)
    return attrs.evolve(node, items=(*node.items[:position], item, *node.items[position + 1 :]))


def removed(node: Node, path: Path) -> Node:
    """Return ``node`` without what is at ``path``, which must be there."""
    step, rest = path[0], path[1:]
    if isinstance(node, MappingNode):
        key = existing_key(node, step)
        if key is None:
            raise LookupError(step)
        entries = dict(node.entries)
        if rest:
            entries[key] = attrs.evolve(entries[key], node=removed(entries[key].node, rest))
        else:
            del entries[key]
        return attrs.evolve(node, entries=entries)
    index = list_index(step)
    if not isinstance(node, SequenceNode) or index is None or child(node, step) is None:
        raise LookupError(step)
    items = list(node.items)
    if rest:
        items[index] = removed(items[index], rest)
    else:
        del items[index]
    return attrs.evolve(node, items=tuple(items))


def scalars(node: Node, path: Path = ()) -> Iterator[tuple[Path, ScalarNode]]:
    """Yield every scalar below ``node`` with its path."""
    if isinstance(node, ScalarNode):
        yield path, node
    elif isinstance(node, MappingNode):
        for key, entry in node.entries.items():
            yield from scalars(entry.node, (*path, key))
    else:
        for index, item in enumerate(node.items):
            yield from scalars(item, (*path, index))


def expanded_size(node: Node) -> int:
    """Return how many nodes the tree has when every node that is shared is counted each time."""
    sizes: dict[int, int] = {}

    def size(current: Node) -> int:
        known = sizes.get(id(current))
        if known is None:
            below: list[Node] = []
            if isinstance(current, MappingNode):
                below = [entry.node for entry in current.entries.values()]
            elif isinstance(current, SequenceNode):
                below = list(current.items)
            known = sizes[id(current)] = 1 + sum(size(item) for item in below)
        return known

    return size(node)
