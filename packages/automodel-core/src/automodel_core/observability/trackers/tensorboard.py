"""TensorBoard: event files, through torch's writer or tensorboardX."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automodel_core.observability.json_lines import metrics_path
from automodel_core.observability.optional_packages import is_installed
from automodel_core.observability.trackers.tracker import Tracker, flat_config

if TYPE_CHECKING:
    from automodel_core.training.run_state import RunState


class TensorboardTracker(Tracker):
    """Writes scalars, and the config as a text and as hyper-parameters.

    A resumed run that writes to the same directory hides what an earlier one did after the step it starts from.
    """

    def open(self, run: RunState) -> None:
        chosen = run.config.logging.tensorboard.directory
        directory = Path(chosen) if chosen is not None else metrics_path(run).with_name("tensorboard")
        resumed_at = run.scheduler.step
        self._writer, hparams = _library(str(directory), resumed_at + 1 if resumed_at else None)
        self._writer.add_text("config", "```yaml\n" + run.config.to_yaml() + "```", resumed_at)
        values = {key: value if _is_scalar(value) else str(value) for key, value in _hyper_parameters(run).items()}
        experiment, started, self._ended = hparams(values, {"train/loss": 0.0})
        self._writer.file_writer.add_summary(experiment)
        self._writer.file_writer.add_summary(started)
        self._writer.flush()

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)

    def note_checkpoint(self, step: int, directory: str) -> None:
        self._writer.add_text("checkpoint", directory, step)
        self._writer.flush()

    def close(self, outcome: str) -> None:
        self._writer.add_text("outcome", outcome)
        self._writer.file_writer.add_summary(self._ended)
        self._writer.close()


def _library(directory: str, purge_step: int | None) -> tuple[Any, Any]:
    """Return a writer and the function that makes summaries of hyper-parameters."""
    home = "torch.utils.tensorboard" if is_installed("tensorboard") else "tensorboardX"
    writer = importlib.import_module(home).SummaryWriter(directory, purge_step=purge_step)
    return writer, importlib.import_module(f"{home}.summary").hparams


def _hyper_parameters(run: RunState) -> dict[str, Any]:
    return {key: value for key, value in flat_config(run.config.public()).items() if value is not None}


def _is_scalar(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)
