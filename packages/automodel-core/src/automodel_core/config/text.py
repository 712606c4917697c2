"""From bytes to text with places: UTF-8 only, no control characters, lines as YAML counts them."""

from __future__ import annotations

import re

import attrs

from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError

LARGEST_SOURCE_BYTES = 4 * 1024 * 1024

_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_NOT_TEXT = re.compile("[^\\t\\n\\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff")


@attrs.frozen(eq=False)
class SourceText:
    """The text of a source and its name, as shown in a place."""

    name: str
    text: str
    lines: tuple[str, ...]

    def span(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        """Return a span from 0-based marks, cut at the end of its first line."""
        text = self.lines[line] if line < len(self.lines) else ""
        end = end_column if end_line == line else len(text)
        return Span(self.name, line + 1, column + 1, max(end, column) + 1, text)

    def span_of_offset(self, offset: int) -> Span:
        """Return the one-character span at ``offset``."""
        before = _LINE_BREAK.split(self.text[:offset])
        line = len(before) - 1
        column = len(before[-1])
        return self.span(line, column, line, column + 1)


def source_text(name: str, text: str) -> SourceText:
    """Split ``text`` into lines and refuse characters that no config may hold.

    Raises:
        InputError: AM101, at the first such character.
    """
    source = SourceText(name, text, tuple(_LINE_BREAK.split(text)))
    bad = _NOT_TEXT.search(text)
    if bad is None:
        return source
    what = "a NUL character" if bad[0] == "\0" else f"the control character U+{ord(bad[0]):04X}"
    raise InputError(
        Diagnostic(
            "AM101",
            f"`{name}` is not a text file: it holds {what}",
            source.span_of_offset(bad.start()),
            "not allowed here",
            ("remove it, or write it as an escape inside double quotes",),
        )
    )


def decoded(name: str, data: bytes) -> SourceText:
    """Decode UTF-8, with or without a byte-order mark.

    Raises:
        InputError: AM101 for other encodings and binary files, AM105 for a source that is too large.
    """
    if len(data) > LARGEST_SOURCE_BYTES:
        limit = LARGEST_SOURCE_BYTES // (1024 * 1024)
        raise InputError(Diagnostic("AM105", f"`{name}` is larger than {limit} MiB, which is too large for a config"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8-sig", errors="replace")
        line = _LINE_BREAK.split(data.decode("utf-8", errors="replace"))[len(_LINE_BREAK.split(good)) - 1]
        column = len(_LINE_BREAK.split(good)[-1]) + 1
        raise InputError(
            Diagnostic(
                "AM101",
                f"`{name}` is not UTF-8 text: byte {data[error.start]:#04x} at offset {error.start}",
                Span(name, len(_LINE_BREAK.split(good)), column, column + 1, line),
                "cannot be decoded",
                ("save the file as UTF-8",),
            )
        ) from None
    return source_text(name, text)
