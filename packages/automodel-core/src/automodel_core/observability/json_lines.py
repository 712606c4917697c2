"""Every sample as a line of JSON on disk, flushed at once."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.hookspecs import hookimpl
from automodel_core.observability.samples import MetricsSample, ValidationSample

if TYPE_CHECKING:
    from automodel_core.config import RunConfig
    from automodel_core.infrastructure.plan import PlannedStage
    from automodel_core.training.run_state import RunState

METRICS_FILE: Final = "metrics.jsonl"


def metrics_path(run: RunState) -> Path:
    """Return where the lines of ``run`` are: ``logging.directory``, or beside the checkpoints."""
    directory = run.config.logging.directory
    return (Path(directory) if directory is not None else run.checkpoints.directory) / METRICS_FILE


def check_metrics_directory(config: RunConfig) -> None:
    """Raise :class:`InputError` when ``logging.directory`` is given and no file can be written there."""
    directory = config.logging.directory
    if directory is None or not config.logging.jsonl:
        return
    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
        (Path(directory) / METRICS_FILE).open("a").close()
    except OSError as error:
        message = f"metrics cannot be written to `{directory}`: {error.strerror}"
        helps = ("name another `logging.directory`, or leave it out to write beside the checkpoints",)
        raise InputError(Diagnostic("AM346", message, config.span("logging.directory"), helps=helps)) from None


class JsonLines:
    """Appends to ``metrics.jsonl``: a resumed run goes on in the same file after a ``run_started`` line of its own.

    What happens before the run has started (the stages of the pipeline) is kept and written first.
    """

    def __init__(self) -> None:
        self._file: IO[str] | None = None
        self._early: list[dict[str, Any]] = []

    @hookimpl
    def stage_finished(self, stage: PlannedStage, seconds: float) -> None:
        record = {"event": "stage", "stage": stage.stage.value, "because": stage.because, "seconds": seconds}
        self._early.append(record)

    @hookimpl
    def run_started(self, run: RunState) -> None:
        early, self._early = self._early, []
        if not run.config.logging.jsonl:
            return
        path = metrics_path(run)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        scheduler = run.scheduler
        self._write(
            {
                "event": "run_started",
                "time": time.time(),
                "step": scheduler.step,
                "total_steps": scheduler.total_steps,
                "parameters": sum(p.numel() for p in run.model.parameters()),
                "trainable": sum(p.numel() for p in run.model.parameters() if p.requires_grad),
            }
        )
        for record in early:
            self._write(record)

    @hookimpl
    def step_finished(self, sample: MetricsSample) -> None:
        self._write(sample.record())

    @hookimpl
    def validation_finished(self, sample: ValidationSample) -> None:
        self._write(sample.record())

    @hookimpl
    def checkpoint_saved(self, step: int, directory: str) -> None:
        self._write({"event": "checkpoint", "step": step, "directory": directory})

    @hookimpl
    def run_finished(self, outcome: str) -> None:
        self._write({"event": "run_finished", "outcome": outcome, "time": time.time()})
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, record: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(_finite(record)) + "\n")
            self._file.flush()


def _finite(record: dict[str, Any]) -> dict[str, Any]:
    """Write infinities and NaN as strings: JSON has no word for them."""
    return {k: repr(v) if isinstance(v, float) and not abs(v) < float("inf") else v for k, v in record.items()}
