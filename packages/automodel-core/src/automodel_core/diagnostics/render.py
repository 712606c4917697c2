"""Diagnostics as text: a block with the source line and a caret, one line each, or JSON."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Sequence
from typing import IO, Any

from automodel_core.diagnostics.diagnostic import Diagnostic, Span

_WIDEST_LINE = 120
_LONGEST_TEXT = 2000
_RESET = "\x1b[0m"
_STYLES = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "place": "\x1b[34m", "help": "\x1b[36m"}


def use_colour(stream: IO[Any]) -> bool:
    """Return whether to colour what is written to ``stream``: a terminal that can, and no ``NO_COLOR``."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def render(diagnostics: Sequence[Diagnostic], stream: IO[Any]) -> str:
    """Return the blocks, coloured when ``stream`` is a terminal."""
    return render_blocks(diagnostics, colour=use_colour(stream))


def render_blocks(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """Return one block for each diagnostic, an empty line between them, a newline at the end."""
    return "\n".join(_block(diagnostic, colour) for diagnostic in diagnostics)


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one line for each: ``cfg.yaml:3:7: error: message [AM142]``."""
    lines = []
    for found in diagnostics:
        place = f"{_shown(str(found.span))}: " if found.span else ""
        lines.append(f"{place}{found.severity}: {_shown(found.message)} [{found.code}]\n")
    return "".join(lines)


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """Return a JSON list of objects with ``code, severity, message, label, helps`` and ``span`` (or null)."""
    import json

    return json.dumps([to_data(diagnostic) for diagnostic in diagnostics], indent=2, ensure_ascii=False) + "\n"


def to_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic as JSON-able data."""
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "label": diagnostic.label,
        "helps": list(diagnostic.helps),
        "span": span
        and {
            "source": span.source,
            "line": span.line,
            "column": span.column,
            "end_column": span.end_column,
            "text": span.text,
        },
    }


def _block(diagnostic: Diagnostic, colour: bool) -> str:
    severity = _painted(f"{diagnostic.severity}:", diagnostic.severity, colour)
    first, *table = diagnostic.message.split("\n")
    lines = [f"{severity} {_shown(first)} [{diagnostic.code}]", *(f"  {_shown(row).rstrip()}" for row in table)]
    if diagnostic.span is not None:
        lines.extend(_excerpt(diagnostic.span, diagnostic.label, diagnostic.severity, colour))
    lines.extend(f"  {_painted('help:', 'help', colour)} {_shown(text)}" for text in diagnostic.helps)
    return "\n".join(lines) + "\n"


def _excerpt(span: Span, label: str, severity: str, colour: bool) -> list[str]:
    place = _painted("  --> ", "place", colour) + _shown(str(span))
    if not span.text.strip():
        return [place]
    text, start, end = _window(span)
    number = "" if span.source.startswith("<") else str(span.line)
    gutter = " " * len(number)
    bar = _painted("|", "place", colour)
    before, marked = _cells(text[:start]), max(_cells(text[start:end]), 1)
    caret = _painted("^" * marked + (f" {_shown(label)}" if label else ""), severity, colour)
    shown = _shown(text).rstrip()
    return [place, f" {gutter} {bar}", f" {number} {bar} {shown}", f" {gutter} {bar} {' ' * before}{caret}"]


def _window(span: Span) -> tuple[str, int, int]:
    """Return the part of a long line around the span, and where the span is in it."""
    start = min(span.column - 1, len(span.text))
    end = min(max(span.end_column - 1, start), len(span.text))
    if len(span.text) <= _WIDEST_LINE:
        return span.text, start, end
    first = max(0, min(start - _WIDEST_LINE // 3, len(span.text) - _WIDEST_LINE))
    last = first + _WIDEST_LINE
    head = "…" if first else ""
    tail = "…" if last < len(span.text) else ""
    offset = len(head) - first
    return head + span.text[first:last] + tail, start + offset, min(end, last) + offset


def _cells(text: str) -> int:
    """Return how many columns of a terminal ``text`` takes once :func:`_shown`."""
    return sum(_width(character) for character in _shown(text))


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _shown(text: str) -> str:
    """Return ``text`` on one line, not endless, without anything a terminal would obey."""
    if len(text) > _LONGEST_TEXT:
        text = text[:_LONGEST_TEXT] + "…"
    return "".join(_safe(character) for character in text.replace("\t", "    "))


def _safe(character: str) -> str:
    if character in "\n\r\x85\u2028\u2029":
        return " "
    return character if unicodedata.category(character) not in ("Cc", "Cs", "Cf") else "�"


def _painted(text: str, style: str, colour: bool) -> str:
    return f"{_STYLES[style]}{text}{_RESET}" if colour else text
