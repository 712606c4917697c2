"""The progress of a run on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from automodel_core.hookspecs import hookimpl
from automodel_core.observability.glyphs import glyphs_for
from automodel_core.observability.history import read_history
from automodel_core.observability.json_lines import metrics_path
from automodel_core.observability.lines import (
    checkpoint_line,
    opening_lines,
    unsupervised_line,
    validation_line,
)
from automodel_core.observability.live_line import terminal_width
from automodel_core.observability.loss_chart import loss_chart
from automodel_core.observability.loss_plot import PLOT_FILE
from automodel_core.observability.samples import MetricsSample, ValidationSample
from automodel_core.observability.views import View, choose_view

if TYPE_CHECKING:
    from automodel_core.training.run_state import RunState

_WIDEST_CHART = 100


class ConsoleLog:
    """Says what the run plans and did: a live status line on a terminal, ``key=value`` lines on any other stream.

    At the end it prints the loss curve, on a terminal or where ``logging.curve`` asks for it, and where the record is.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._run: RunState | None = None
        self._view: View | None = None
        self._unsupervised = 0

    @hookimpl
    def run_started(self, run: RunState) -> None:
        self._run = run
        self._view = choose_view(self._stream)
        for line in opening_lines(run):
            self._view.say(line)
        self._view.step_begins()

    @hookimpl
    def step_finished(self, sample: MetricsSample) -> None:
        if self._view is None or self._run is None:
            return
        if sample.extras.get("targets") == 0:
            self._unsupervised += 1
            self._view.say(unsupervised_line(sample.step, self._unsupervised))
        scheduler = self._run.scheduler
        self._view.step_done(sample, scheduler.total_steps, shown=scheduler.log_due())

    @hookimpl
    def validation_finished(self, sample: ValidationSample) -> None:
        self._say_between_steps(validation_line(sample))

    @hookimpl
    def checkpoint_saved(self, step: int, directory: str) -> None:
        self._say_between_steps(checkpoint_line(step, directory))

    @hookimpl
    def run_finished(self, outcome: str) -> None:
        if self._view is None or self._run is None:
            return
        view, run, self._view = self._view, self._run, None
        view.close()
        if view.is_live if run.config.logging.curve is None else run.config.logging.curve:
            for line in self._chart(run):
                view.say(line)
        view.say(f"run {outcome}")
        if run.config.logging.jsonl:
            files = (metrics_path(run), metrics_path(run).with_name(PLOT_FILE))
            view.say("record: " + ", ".join(str(file) for file in files if file.exists()))

    def _say_between_steps(self, line: str) -> None:
        if self._view is not None:
            self._view.say(line)
            self._view.step_begins()

    def _chart(self, run: RunState) -> list[str]:
        stream = self._stream or sys.stderr
        width = min(terminal_width(stream) - 1, _WIDEST_CHART)
        return loss_chart(read_history(metrics_path(run)), width, glyphs_for(stream.encoding))
