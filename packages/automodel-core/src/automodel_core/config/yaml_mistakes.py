"""Where a mistake of YAML's syntax was made, and what to type: the parser stops at the first line that does not fit,
which is often the one after the mistake.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import attrs

HELPS: Final = {
    "cannot start any token": "indent with spaces, and quote a value that starts with a tab, `@`, `` ` `` or `%`",
    "while scanning a quoted scalar": "close the quote",
    "did not find expected key": "check the indentation: keys of one section start in the same column",
    "did not find expected ',' or ']'": "close the list with `]`",
    "did not find expected ',' or '}'": "close the mapping with `}`",
    "while scanning an alias": "quote a value that starts with `*`",
    "while scanning an anchor": "quote a value that starts with `&`",
    "while scanning a simple key": "write `key: value`, with a space after the colon",
    "mapping values are not allowed": "put the key on a line of its own, or quote a value that holds `: `",
    "did not find expected <document start>": "remove what stands after the end of the document",
}
_GLUED: Final = re.compile(r"\s*(?:- )?([A-Za-z_][\w.-]*):([^\s:/].*)")
_KEY: Final = re.compile(r"(\s*)[\w.-]+:\s.*|(\s*)[\w.-]+:")
_BEGUN: Final = ("while scanning a simple key", "while scanning a quoted scalar")

Place = tuple[int, int]


@attrs.frozen
class Mistake:
    """The 0-based place of a mistake, and a line of help or none."""

    line: int
    column: int
    helps: tuple[str, ...]


def mistake(lines: Sequence[str], problem: str, context: str, place: Place, start: Place | None) -> Mistake:
    """Return where and what the mistake is; ``place`` is where the parser stopped, ``start`` what it was reading."""
    line, column = place
    if lines_at(lines, line)[max(0, column - 1) :].startswith("${") and "flow" in context:
        return Mistake(line, column - 1, ("quote a reference inside `{…}` and `[…]`: `'${…}'`",))
    glued = _glued_before(lines, line if "mapping values" in problem else (start or place)[0])
    if glued is not None and ("mapping values" in problem or "simple key" in context):
        return glued
    if "mapping values" in problem and _is_deeper(lines, line):
        return Mistake(line, len(lines[line]) - len(lines[line].lstrip()), ("indent the key like the one above it",))
    unclosed = start is not None and start[0] != line and context.startswith("while parsing a flow")
    if start is not None and (unclosed or context in _BEGUN):
        line, column = start
    return Mistake(line, column, tuple(text for key, text in HELPS.items() if key in problem or key in context)[:1])


def lines_at(lines: Sequence[str], number: int) -> str:
    """Return a line, empty beyond the end."""
    return lines[number] if 0 <= number < len(lines) else ""


def _glued_before(lines: Sequence[str], number: int) -> Mistake | None:
    """Find a `key:value` in the line or in the one before it."""
    for candidate in (number, number - 1):
        found = _GLUED.fullmatch(lines_at(lines, candidate))
        if found is not None:
            return Mistake(candidate, found.end(1), (f"put a space after the colon: `{found[1]}: {found[2]}`",))
    return None


def _is_deeper(lines: Sequence[str], number: int) -> bool:
    """Return whether a line that holds a key is indented more than the key with a value above it."""
    above, here = _KEY.fullmatch(lines_at(lines, number - 1)), _KEY.fullmatch(lines_at(lines, number))
    if above is None or here is None or above[1] is None:
        return False
    return len(here[1] or here[2] or "") > len(above[1])
