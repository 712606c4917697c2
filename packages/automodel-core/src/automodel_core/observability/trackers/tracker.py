"""What every experiment tracker does; each adds how its library is opened, written to and closed."""

from __future__ import annotations

import contextlib
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from automodel_core.hookspecs import hookimpl
from automodel_core.observability.samples import MetricsSample, ValidationSample

if TYPE_CHECKING:
    from automodel_core.training.run_state import RunState


class Tracker(ABC):
    """Passes on the resolved config, the steps that ``log_interval`` lets through, validations and checkpoints.

    One that cannot be opened is reported, as for any observer, and gets nothing of that run.
    """

    def __init__(self) -> None:
        self._run: RunState | None = None

    @hookimpl
    def run_started(self, run: RunState) -> None:
        with _quiet_stdout():
            self.open(run)
        self._run = run

    @hookimpl
    def step_finished(self, sample: MetricsSample) -> None:
        if self._run is not None and self._run.scheduler.log_due():
            self.log(step_metrics(sample), sample.step)

    @hookimpl
    def validation_finished(self, sample: ValidationSample) -> None:
        if self._run is not None:
            self.log(validation_metrics(sample), sample.step)

    @hookimpl
    def checkpoint_saved(self, step: int, directory: str) -> None:
        if self._run is not None:
            self.note_checkpoint(step, directory)

    @hookimpl
    def run_finished(self, outcome: str) -> None:
        if self._run is not None:
            self._run = None
            with _quiet_stdout():
                self.close(outcome)

    @abstractmethod
    def open(self, run: RunState) -> None:
        """Import the library, start its run, and give it the resolved config."""

    @abstractmethod
    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Write the metrics of a step."""

    @abstractmethod
    def note_checkpoint(self, step: int, directory: str) -> None:
        """Write down that there is a checkpoint."""

    @abstractmethod
    def close(self, outcome: str) -> None:
        """Write what is left, and end the library's run."""


def step_metrics(sample: MetricsSample) -> dict[str, float]:
    """Return the finite metrics of a step, under ``train/``."""
    record = {key: value for key, value in sample.record().items() if key not in ("event", "step")}
    return {f"train/{key}": value for key, value in record.items() if value is not None and math.isfinite(value)}


def validation_metrics(sample: ValidationSample) -> dict[str, float]:
    """Return the finite metrics of a validation pass, under the name of its data."""
    values = {"loss": sample.loss, "targets": sample.targets, "seconds": sample.seconds}
    return {f"{sample.name}/{key}": value for key, value in values.items() if math.isfinite(value)}


def flat_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resolved config as one level of dotted keys; an empty mapping or list is a value of its own."""
    return dict(_flat(config, ""))


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


@contextlib.contextmanager
def _quiet_stdout() -> Iterator[None]:
    """Send what a library says to stderr: stdout belongs to the command's result."""
    with contextlib.redirect_stdout(sys.stderr):
        yield
