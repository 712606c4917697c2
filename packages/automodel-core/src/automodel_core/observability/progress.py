"""How far a run is, from its last steps: facts, their text in a given width, and nothing of terminals."""

from __future__ import annotations

import statistics
from collections import deque
from typing import Final

import attrs

from automodel_core.observability.glyphs import Glyphs, sparkline
from automodel_core.observability.samples import MetricsSample

_SPARKLINE_WIDTH: Final = 16
_REMEMBERED_LOSSES: Final = 320
_REMEMBERED_SECONDS: Final = 50


@attrs.frozen
class Status:
    """What a status line shows after a step."""

    step: int
    total_steps: int
    losses: tuple[float, ...]
    """The losses of the last steps; the last one is of ``step``."""
    lr: float
    tokens_per_second: float
    memory_gib: float
    seconds_left: float | None = None


class Progress:
    """Remembers the losses and the wall time of the last steps."""

    def __init__(self) -> None:
        self._losses: deque[float] = deque(maxlen=_REMEMBERED_LOSSES)
        self._seconds: deque[float] = deque(maxlen=_REMEMBERED_SECONDS)
        self._since: float | None = None
        self._sample: MetricsSample | None = None

    def step_done(self, sample: MetricsSample, now: float) -> None:
        """Take in a step that ended at ``now`` (seconds of a monotonic clock)."""
        self._losses.append(sample.loss)
        self._sample = sample
        if self._since is not None:
            self._seconds.append(now - self._since)
        self._since = now

    def resume(self, now: float) -> None:
        """Begin to time a step at ``now``: what was before it (set-up, validation, a checkpoint) is not of a step."""
        self._since = now

    def status(self, total_steps: int) -> Status | None:
        """Return what to show, or ``None`` before the first step."""
        sample = self._sample
        if sample is None:
            return None
        left = max(total_steps - sample.step, 0)
        # The median: a step that compiled, or was held up once, says nothing of those to come.
        seconds_left = statistics.median(self._seconds) * left if self._seconds else None
        return Status(
            step=sample.step,
            total_steps=total_steps,
            losses=tuple(self._losses),
            lr=sample.lr,
            tokens_per_second=sample.tps,
            memory_gib=sample.mem,
            seconds_left=seconds_left,
        )


def status_text(status: Status, width: int, glyphs: Glyphs) -> str:
    """Return one line of at most ``width`` characters; what matters less is left out first when it is narrow."""
    spark = sparkline(status.losses, _SPARKLINE_WIDTH, glyphs)
    loss = f"loss {status.losses[-1]:.4f}"
    parts = {
        "step": f"step {status.step}/{status.total_steps}",
        "loss": f"{loss} {spark}",
        "lr": f"lr {status.lr:.2e}",
        "speed": f"{status.tokens_per_second:,.0f} tok/s",
        "memory": f"{status.memory_gib:.2f} GiB",
    }
    if status.seconds_left is not None:
        parts["left"] = f"{duration(status.seconds_left)} left"
    for dropped in (None, "memory", "lr", "speed", "spark", "left"):
        if dropped == "spark":
            parts["loss"] = loss
        elif dropped is not None:
            parts.pop(dropped, None)
        text = glyphs.separator.join(parts.values())
        if len(text) <= width:
            return text
    return text[: max(width - 1, 0)] + glyphs.ellipsis if width > 0 else ""


def duration(seconds: float) -> str:
    """Return ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
