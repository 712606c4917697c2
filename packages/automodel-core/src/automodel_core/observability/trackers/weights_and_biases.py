"""Weights & Biases, online or offline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from automodel_core.observability.json_lines import metrics_path
from automodel_core.observability.trackers.tracker import Tracker

if TYPE_CHECKING:
    from automodel_core.training.run_state import RunState


class WandbTracker(Tracker):
    """Logs to a run of wandb. Its capture of the console is off: a status line redrawn in place is no log."""

    def open(self, run: RunState) -> None:
        import wandb

        chosen = run.config.logging.wandb
        directory = metrics_path(run).parent if chosen.directory is None else chosen.directory
        metrics_path(run).parent.mkdir(parents=True, exist_ok=True)
        self._tracked = wandb.init(
            project=chosen.project,
            name=chosen.name,
            entity=chosen.entity,
            id=chosen.id,
            resume=None if chosen.id is None else "allow",
            group=chosen.group,
            tags=chosen.tags or None,
            mode=chosen.mode,
            dir=str(directory),
            config=run.config.public(),
            settings=wandb.Settings(console="off"),
        )

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._tracked.log(dict(metrics), step=step)

    def note_checkpoint(self, step: int, directory: str) -> None:
        self._tracked.summary["checkpoint"] = directory

    def close(self, outcome: str) -> None:
        self._tracked.summary["outcome"] = outcome
        self._tracked.finish(exit_code=int(outcome == "failed"))
