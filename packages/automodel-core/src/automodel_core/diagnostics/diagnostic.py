"""What is wrong, where, why, and what to type next."""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen
class Span:
    """A place in a source: 1-based line and column, the end exclusive.

    ``source`` is the path as the user wrote it, or ``<command line>`` / ``<python>``; ``text`` is the whole line.
    """

    source: str
    line: int
    column: int
    end_column: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


@attrs.frozen
class Diagnostic:
    """One problem.

    ``code`` is stable (``AM101``); ``message`` is one lower-case sentence with names in backticks, which the rows of a
    table may follow on lines of their own; ``label`` is written under the caret; each of ``helps`` says what to type or
    do.
    """

    code: str
    message: str
    span: Span | None = None
    label: str = ""
    helps: tuple[str, ...] = ()
    severity: Literal["error", "warning"] = "error"
