"""The words of the command line, with the place of each for reports."""

from __future__ import annotations

import shlex

import attrs

from automodel_core.diagnostics.diagnostic import Span

PROGRAM = "automodel"
SOURCE = "<command line>"


@attrs.frozen
class CommandLine:
    """Everything after the program's name."""

    words: tuple[str, ...]

    def span(self, position: int) -> Span:
        """Return the place of the word at ``position``, in the command line as a shell would have it."""
        quoted = [PROGRAM, *(shlex.quote(word) for word in self.words)]
        column = 1 + sum(len(word) + 1 for word in quoted[: position + 1])
        return Span(SOURCE, 1, column, column + len(quoted[position + 1]), " ".join(quoted))

    def end(self) -> Span:
        """Return the place just after the last word, for what is missing."""
        text = shlex.join([PROGRAM, *self.words])
        return Span(SOURCE, 1, len(text) + 1, len(text) + 2, text)
