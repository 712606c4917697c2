"""TOML to nodes. tomli gives the values; a scan of the lines gives the places, down to the line of each key."""

from __future__ import annotations

import re
from typing import Any

import tomli

from automodel_core.config.nodes import MappingNode
from automodel_core.config.paths import Step
from automodel_core.config.python_source import LinePlaces, nodes_from_data
from automodel_core.config.text import SourceText
from automodel_core.config.toml_mistakes import toml_help
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError

_NAME = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_TABLE = re.compile(rf"\s*\[\s*({_DOTTED})\s*\]\s*(#.*)?")
_TABLE_ITEM = re.compile(rf"\s*\[\[\s*({_DOTTED})\s*\]\]\s*(#.*)?")
_ASSIGNMENT = re.compile(rf"\s*({_DOTTED})\s*=\s*(.*)")
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


def parse_toml(source: SourceText) -> MappingNode:
    """Return the nodes of a TOML document.

    A key inside an inline table or an array has the place of the line its assignment starts on.

    Raises:
        InputError: AM102 for bad syntax, AM106 for dates and times, AM105 for too deep nesting.
    """
    try:
        data = tomli.loads(source.text)
    except RecursionError:
        raise InputError(
            Diagnostic("AM105", f"`{source.name}` is nested too deeply", source.span(0, 0, 0, 1))
        ) from None
    except ValueError as error:
        raise InputError(_syntax_error(source, error)) from None
    return nodes_from_data(data, LinePlaces(source.name, _scan(source)))


def _syntax_error(source: SourceText, error: ValueError) -> Diagnostic:
    message = str(error)
    place = _PLACE.search(message)
    line, column = (int(place[1]) - 1, int(place[2]) - 1) if place else (len(source.lines) - 1, 0)
    said = _PLACE.sub("", message).removesuffix(" (at end of document)")
    span = source.span(line, column, line, column + 1)
    return Diagnostic(
        "AM102", f"`{source.name}` is not valid TOML: {said[:1].lower()}{said[1:]}", span, "", toml_help(said)
    )


def _scan(source: SourceText) -> dict[tuple[Step, ...], tuple[Span, Span]]:
    """Return the spans of key and value of each assignment and table header, by path; the first one wins."""
    places: dict[tuple[Step, ...], tuple[Span, Span]] = {}
    table: tuple[Step, ...] = ()
    counts: dict[tuple[Step, ...], int] = {}
    for number, text in enumerate(source.lines):
        item = _TABLE_ITEM.fullmatch(text)
        header = item or _TABLE.fullmatch(text)
        match: Any = header or _ASSIGNMENT.fullmatch(text)
        if match is None:
            continue
        key = source.span(number, match.start(1), number, match.end(1))
        path = _resolve(_names(match[1]), counts) if header else table + _names(match[1])
        value = key if header else source.span(number, match.start(2), number, match.start(2) + len(match[2].rstrip()))
        if item:
            counts[path] = counts.get(path, -1) + 1
            places.setdefault(path, (key, key))
            path = (*path, counts[path])
        if header:
            table = path
        places.setdefault(path, (key, value))
    return places


def _names(dotted: str) -> tuple[Step, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))


def _resolve(names: tuple[Step, ...], counts: dict[tuple[Step, ...], int]) -> tuple[Step, ...]:
    """Return the path of a table header: a name of an array of tables stands for its last item so far."""
    path: tuple[Step, ...] = ()
    for position, name in enumerate(names):
        path = (*path, name)
        if path in counts and position < len(names) - 1:
            path = (*path, counts[path])
    return path
