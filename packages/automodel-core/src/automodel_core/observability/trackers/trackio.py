"""trackio: on this machine, or on a Space of the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from automodel_core.observability.trackers.tracker import Tracker, flat_config

if TYPE_CHECKING:
    from automodel_core.training.run_state import RunState


class TrackioTracker(Tracker):
    """Logs to a run of trackio."""

    def open(self, run: RunState) -> None:
        import trackio

        chosen = run.config.logging.trackio
        self._tracked = trackio.init(
            project=chosen.project,
            name=chosen.name,
            space_id=chosen.space_id,
            config=flat_config(run.config.public()),
            resume="never" if chosen.name is None else "allow",
            embed=False,
        )
        self._finish = trackio.finish

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._tracked.log(dict(metrics), step=step)

    def note_checkpoint(self, step: int, directory: str) -> None:
        self._tracked.log({"checkpoint": directory}, step=step)

    def close(self, outcome: str) -> None:
        self._tracked.log({"outcome": outcome})
        self._finish()
