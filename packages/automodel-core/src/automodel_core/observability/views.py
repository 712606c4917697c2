"""Two ways to show a run on a stream: a line for every step that is shown, or one line redrawn in place."""

from __future__ import annotations

import sys
import time
from typing import Protocol, TextIO

from automodel_core.diagnostics.render import use_colour
from automodel_core.observability.glyphs import Glyphs, glyphs_for
from automodel_core.observability.lines import step_line
from automodel_core.observability.live_line import LiveLine, is_live_terminal
from automodel_core.observability.progress import Progress, status_text
from automodel_core.observability.samples import MetricsSample


class View(Protocol):
    """Where the console writes."""

    is_live: bool
    """Whether somebody watches: a terminal."""

    def say(self, line: str) -> None:
        """Print a line that stays."""

    def step_done(self, sample: MetricsSample, total_steps: int, *, shown: bool) -> None:
        """Show a step; ``shown`` says whether ``log_interval`` lets it through."""

    def step_begins(self) -> None:
        """Be told that a step begins after something else."""

    def close(self) -> None:
        """Leave the stream as it was found."""


def choose_view(stream: TextIO | None) -> View:
    """Return the live view for a terminal, the plain one for anything else. ``None`` is stderr."""
    target = sys.stderr if stream is None else stream
    return LiveView(target) if is_live_terminal(target) else PlainView(stream)


class PlainView:
    """A line of ``key=value`` for each step that is shown."""

    is_live = False

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def say(self, line: str) -> None:
        print(line, file=self._stream or sys.stderr, flush=True)

    def step_done(self, sample: MetricsSample, total_steps: int, *, shown: bool) -> None:
        if shown:
            self.say(step_line(sample, total_steps))

    def step_begins(self) -> None:
        pass

    def close(self) -> None:
        pass


class LiveView:
    """A status line that is redrawn in place, at most ten times a second; what is said appears above it."""

    is_live = True

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._glyphs = glyphs_for(terminal.encoding)
        self._colour = use_colour(terminal)
        self._progress = Progress()
        self._line = LiveLine(terminal)
        self._line.open()
        self._total_steps = 0

    def say(self, line: str) -> None:
        is_warning = self._colour and line.startswith("warning:")
        text = line.replace("warning:", "\x1b[1;33mwarning:\x1b[0m", 1) if is_warning else line
        self._line.print_above(self._terminal, text + "\n")

    def step_done(self, sample: MetricsSample, total_steps: int, *, shown: bool) -> None:
        self._progress.step_done(sample, time.monotonic())
        self._total_steps = total_steps
        self._line.update(self._text)

    def step_begins(self) -> None:
        self._progress.resume(time.monotonic())

    def close(self) -> None:
        self._line.close()

    def _text(self, width: int) -> str:
        status = self._progress.status(self._total_steps)
        assert status is not None
        text = status_text(status, width, self._glyphs)
        return _with_colour(text, self._glyphs) if self._colour else text


def _with_colour(text: str, glyphs: Glyphs) -> str:
    """Return a status line with what separates its parts dimmed."""
    return text.replace(glyphs.separator, f"\x1b[2m{glyphs.separator}\x1b[22m")
