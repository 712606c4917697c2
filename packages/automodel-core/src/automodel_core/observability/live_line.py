"""One line at the bottom of a terminal that is redrawn in place, below whatever else is printed."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any, Final, cast

SECONDS_BETWEEN_DRAWS: Final = 0.1
_ERASE: Final = "\r\x1b[K"

Render = Callable[[int], str]
"""Maps the columns there are to the text of the line, without a newline and no longer than that."""


def is_live_terminal(stream: IO[Any]) -> bool:
    """Return whether a line on ``stream`` can be redrawn."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def terminal_width(stream: IO[Any]) -> int:
    """Return the columns of ``stream`` as they are now, or of standard output, or 80."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return columns or shutil.get_terminal_size().columns


class LiveLine:
    """While it is open, what is printed on stdout and stderr appears above the line.

    The cursor is never hidden and rests at the start of the line, so that a process that is killed leaves nothing to
    repair, and what native code prints past us overwrites the line instead of being appended to it.
    """

    def __init__(self, terminal: IO[str]) -> None:
        self._terminal = terminal
        self._lock = threading.RLock()
        self._redirections = contextlib.ExitStack()
        self._render: Render | None = None
        self._is_drawn = False
        self._unfinished = False
        self._drawn_at = float("-inf")

    def open(self) -> None:
        """Begin to let through what is printed."""
        above = self._redirections
        above.enter_context(contextlib.redirect_stderr(cast("IO[str]", _Above(self, sys.stderr))))
        if sys.stdout is not None and sys.stdout.isatty():
            above.enter_context(contextlib.redirect_stdout(cast("IO[str]", _Above(self, sys.stdout))))

    def close(self) -> None:
        """Erase the line, and let everything be printed as before."""
        with self._lock:
            self._erase()
            self._render = None
            self._redirections.close()

    def update(self, render: Render) -> None:
        """Show ``render`` from now on: at once when the last drawing is long enough ago, otherwise with a later one."""
        with self._lock:
            self._render = render
            self._draw_when_due()

    def print_above(self, stream: IO[str], text: str) -> int:
        """Write ``text`` to ``stream``, above the line when it ends a line of its own."""
        with self._lock:
            self._erase()
            written = stream.write(text)
            stream.flush()
            if text:
                self._unfinished = not text.endswith("\n")
            self._draw_when_due()
            return written

    def _draw_when_due(self) -> None:
        now = time.monotonic()
        if self._render is None or self._unfinished or now - self._drawn_at < SECONDS_BETWEEN_DRAWS:
            return
        # One column stays free: some terminals wrap a line that fills the last one.
        text = self._render(max(terminal_width(self._terminal) - 1, 1))
        self._terminal.write(f"{_ERASE}{text}\r")
        self._terminal.flush()
        self._is_drawn = True
        self._drawn_at = now

    def _erase(self) -> None:
        if self._is_drawn:
            self._terminal.write(_ERASE)
            self._terminal.flush()
            self._is_drawn = False


class _Above:
    """A stream in whose place everything is printed above a live line; the rest of it is the stream's own."""

    def __init__(self, line: LiveLine, stream: IO[str]) -> None:
        self._line = line
        self._stream = stream

    def write(self, text: str) -> int:
        return self._line.print_above(self._stream, text)

    def writelines(self, lines: list[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
