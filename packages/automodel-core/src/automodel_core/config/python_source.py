"""Plain Python data to nodes: a mapping given to ``run()``, and what a TOML parser returns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol

from automodel_core.config.nodes import Entry, Key, MappingNode, Node, ScalarNode, SequenceNode
from automodel_core.config.paths import Step, format_path
from automodel_core.config.yaml_source import DEEPEST, LARGEST_TREE
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError

PYTHON_SOURCE = "<python>"


class Places(Protocol):
    """Gives the spans of the key and of the value at a path."""

    def spans(self, path: tuple[Step, ...], value: object) -> tuple[Span, Span]: ...


class PythonPlaces:
    """Shows a value of a Python mapping as one line, ``optimizer.lr = 0.1``."""

    def spans(self, path: tuple[Step, ...], value: object) -> tuple[Span, Span]:
        name = format_path(path)
        shown = "…" if isinstance(value, Mapping | list | tuple) else repr(value)[:80]
        text = f"{name} = {shown}"
        start = len(name) + 4
        return Span(PYTHON_SOURCE, 1, 1, len(name) + 1, text), Span(PYTHON_SOURCE, 1, start, len(text) + 1, text)


def nodes_from_data(data: Mapping[Any, Any], places: Places | None = None) -> MappingNode:
    """Return the nodes of a mapping of plain data: texts, numbers, booleans, ``None``, lists, mappings and paths.

    Raises:
        InputError: AM106 with every value or key of another type, AM105 when the data is too deep or too large.
    """
    reader = _Reader(places or PythonPlaces())
    root = reader.node(data, ())
    if reader.problems:
        raise InputError(reader.problems)
    assert isinstance(root, MappingNode)
    return root


def node_from_value(value: Any, path: tuple[Step, ...]) -> Node:
    """Return the node of one Python value that stands at ``path``."""
    reader = _Reader(PythonPlaces())
    node = reader.node(value, path)
    if reader.problems:
        raise InputError(reader.problems)
    return node


class _Reader:
    def __init__(self, places: Places) -> None:
        self.places = places
        self.problems: list[Diagnostic] = []
        self.size = 0

    def node(self, value: Any, path: tuple[Step, ...]) -> Node:
        _, span = self.places.spans(path, value)
        self.size += 1
        if len(path) > DEEPEST:
            raise InputError(Diagnostic("AM105", f"values are nested more than {DEEPEST} deep", span))
        if self.size > LARGEST_TREE:
            raise InputError(Diagnostic("AM105", f"the config has more than {LARGEST_TREE:,} values", span))
        if isinstance(value, Mapping):
            return MappingNode({key: self.entry(key, item, path) for key, item in value.items()}, span)
        if isinstance(value, list | tuple):
            return SequenceNode(tuple(self.node(item, (*path, index)) for index, item in enumerate(value)), span)
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if value is not None and type(value) not in (str, int, float, bool):
            self.problems.append(
                Diagnostic(
                    "AM106",
                    f"`{format_path(path)}` is a `{type(value).__name__}`, which a config cannot hold",
                    span,
                    "",
                    ("give text, a number, a boolean, a list or a mapping; name a callable by `_target_`",),
                )
            )
            value = None
        if isinstance(value, str) and "\0" in value:
            message = f"`{format_path(path)}` must not have a NUL character"
            self.problems.append(Diagnostic("AM106", message, span, "", ("remove it",)))
        return ScalarNode(value, span)

    def entry(self, key: Any, value: Any, path: tuple[Step, ...]) -> Entry:
        checked: Key = key
        if type(key) not in (str, int):
            span = self.places.spans((*path, repr(key)), value)[0]
            self.problems.append(
                Diagnostic("AM106", f"the key {key!r} in `{format_path(path) or 'the config'}` must be text", span)
            )
            checked = repr(key)
        below = (*path, checked)
        return Entry(checked, self.places.spans(below, value)[0], self.node(value, below))
