"""TOML to nodes: tomli gives the values, a scan of the text gives the place of every key and value."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping
from typing import Final

import attrs
import tomli

from automodel_core.config.nodes import MappingNode
from automodel_core.config.paths import Step, format_path
from automodel_core.config.python_source import nodes_from_data
from automodel_core.config.text import SourceText
from automodel_core.config.toml_mistakes import toml_help
from automodel_core.config.toml_places import Place, Range, TomlPlaces, toml_places
from automodel_core.config.yaml_source import DEEPEST, LARGEST_TREE
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError

_LINE_BREAK: Final = re.compile(r"\r?\n")
_PLACE: Final = re.compile(r" \(at line (\d+), column (\d+)\)$")
_WRITTEN_AGAIN: Final = re.compile("Cannot (overwrite|declare|redefine|mutate)|Duplicate")


def parse_toml(source: SourceText) -> MappingNode:
    """Return the nodes of a TOML document.

    Raises:
        InputError: AM102 for bad syntax, AM103 for a key that is written twice, AM105 for a document that is too deep
            or too large, AM106 for dates and times.
    """
    lines = _Lines(source)
    # Before the parser, which takes its time over very deep keys and very long numbers.
    places = toml_places(source.text, deepest=DEEPEST, most=LARGEST_TREE)
    if places.too_much is not None:
        message = f"`{source.name}` is too large for a config: {places.too_much.reason}"
        raise InputError(Diagnostic("AM105", message, lines.span(places.too_much.at)))
    try:
        data = tomli.loads(source.text)
    except RecursionError:
        raise InputError(Diagnostic("AM105", f"`{source.name}` is nested too deeply", lines.span((0, 1)))) from None
    except ValueError as error:
        raise InputError(_syntax_error(lines, places, str(error))) from None
    return nodes_from_data(data, _TomlPlaces(lines, places.by_path()))


class _Lines:
    """The lines of a document as TOML counts them."""

    def __init__(self, source: SourceText) -> None:
        self.starts = [0, *(match.end() for match in _LINE_BREAK.finditer(source.text))]
        self.source = attrs.evolve(source, lines=tuple(_LINE_BREAK.split(source.text)))

    def span(self, at: Range) -> Span:
        (line, column), (end_line, end_column) = map(self.place, at)
        return self.source.span(line, column, end_line, end_column)

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self.starts, offset) - 1
        return line, offset - self.starts[line]


@attrs.frozen(eq=False)
class _TomlPlaces:
    lines: _Lines
    known: Mapping[tuple[Step, ...], Place]

    def spans(self, path: tuple[Step, ...], value: object) -> tuple[Span, Span]:
        place = self.known.get(path)
        if place is None:  # the document itself
            start = Span(self.lines.source.name, 1, 1, 1)
            return start, start
        return self.lines.span(place.key), self.lines.span(place.value)


def _syntax_error(lines: _Lines, places: TomlPlaces, message: str) -> Diagnostic:
    match = _PLACE.search(message)
    end = len(lines.source.text)
    if match is not None:
        end = min(lines.starts[int(match[1]) - 1] + int(match[2]) - 1, end)
    if _WRITTEN_AGAIN.match(message):
        repeated = places.repeated(end)
        if repeated is not None:
            return _written_twice(lines, *repeated)
    said = _PLACE.sub("", message).removesuffix(" (at end of document)")
    text = f"`{lines.source.name}` is not valid TOML: {said[:1].lower()}{said[1:]}"
    return Diagnostic("AM102", text, lines.span((end, end + 1)), "", toml_help(said))


def _written_twice(lines: _Lines, second: Place, first: Place) -> Diagnostic:
    where = f"first written at {lines.span(first.key)}"
    place = lines.span(second.key)
    if first.path == second.path:
        message = f"the key `{format_path(second.path)}` is written twice"
        return Diagnostic("AM103", message, place, where, ("keep one of the two",))
    message = f"`{format_path(second.path)}` cannot be added: `{format_path(first.path)}` has its value already"
    return Diagnostic("AM103", message, place, where, ("write it there",))
