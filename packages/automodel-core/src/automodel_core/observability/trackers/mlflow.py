"""MLflow: a tracking server, or a SQLite file."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from automodel_core.observability.json_lines import metrics_path
from automodel_core.observability.trackers.tracker import Tracker, flat_config

if TYPE_CHECKING:
    from automodel_core.training.run_state import RunState

_PARAMETERS_A_CALL: Final = 100
_LONGEST_PARAMETER: Final = 6000
_STATUS: Final = {"finished": "FINISHED", "preempted": "KILLED", "failed": "FAILED"}


class MlflowTracker(Tracker):
    """Logs to a run of MLflow through its client, which leaves MLflow's idea of a current run alone."""

    def open(self, run: RunState) -> None:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param

        chosen = run.config.logging.mlflow
        self._metric = Metric
        self._client = MlflowClient(tracking_uri=chosen.tracking_uri or default_tracking_uri(run))
        if chosen.id is not None:
            self._client.update_run(chosen.id, status="RUNNING")
            self._id = chosen.id
            return
        experiment = self._client.get_experiment_by_name(chosen.experiment)
        experiment_id = experiment.experiment_id if experiment else self._client.create_experiment(chosen.experiment)
        self._id = self._client.create_run(experiment_id, run_name=chosen.name).info.run_id
        parameters = [Param(key, _parameter(value)) for key, value in flat_config(run.config.public()).items()]
        for first in range(0, len(parameters), _PARAMETERS_A_CALL):
            self._client.log_batch(self._id, params=parameters[first : first + _PARAMETERS_A_CALL])

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        milliseconds = int(time.time() * 1000)
        entities = [self._metric(name, value, milliseconds, step) for name, value in metrics.items()]
        self._client.log_batch(self._id, metrics=entities)

    def note_checkpoint(self, step: int, directory: str) -> None:
        self._client.set_tag(self._id, "checkpoint", directory)

    def close(self, outcome: str) -> None:
        self._client.set_terminated(self._id, status=_STATUS[outcome])


def default_tracking_uri(run: RunState) -> str:
    """Return what the environment says, or ``mlflow.db`` beside the record: MLflow 3 has given up plain directories."""
    path = metrics_path(run).with_name("mlflow.db").absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{path}"


def _parameter(value: Any) -> str:
    return str(value)[:_LONGEST_PARAMETER]
