"""The progress of a run as arithmetic: which micro-batches make the next step, and what is due after it.

Nothing here knows of models, data or clocks. An *epoch* is ``micro_batches_per_epoch`` micro-batches; a *group* is the
micro-batches of one optimizer step and never crosses the end of an epoch, so the last group of an epoch may be short.
Steps count from 1, epochs from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs


@attrs.frozen
class StepLimits:
    """When to stop and how often to do the rest, all counted in optimizer steps.

    The run ends at ``max_steps`` or after ``num_epochs``, whichever comes first; with neither, after one epoch. An
    interval of ``None`` means never, except that the last step always checkpoints (and validates, when there is a
    validation interval).
    """

    max_steps: int | None = None
    num_epochs: int | None = None
    grad_accumulation_steps: int = 1
    val_check_interval: int | None = None
    checkpoint_interval: int | None = None
    log_interval: int = 10

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(StepLimits):
            value = getattr(self, field.name)
            if value is not None and value < 1:
                raise ValueError(f"`{field.name}` must be at least 1, not {value}")


@attrs.frozen
class Group:
    """The micro-batches ``[first, first + count)`` of ``epoch`` make optimizer step ``step``."""

    step: int
    epoch: int
    first: int
    count: int


@attrs.define
class StepScheduler:
    """Where a run stands. ``step`` steps are done; ``micro_batch`` micro-batches of ``epoch`` are consumed."""

    limits: StepLimits
    micro_batches_per_epoch: int
    step: int = 0
    epoch: int = 0
    micro_batch: int = 0

    def __attrs_post_init__(self) -> None:
        if self.micro_batches_per_epoch < 1:
            raise ValueError("an epoch needs at least one micro-batch")

    @property
    def steps_per_epoch(self) -> int:
        """Optimizer steps in a whole epoch; the trailing partial group is one."""
        return -(-self.micro_batches_per_epoch // self.limits.grad_accumulation_steps)

    @property
    def num_epochs(self) -> int | None:
        """Epochs at which the run ends, or ``None`` when only ``max_steps`` ends it."""
        if self.limits.num_epochs is None and self.limits.max_steps is None:
            return 1
        return self.limits.num_epochs

    @property
    def total_steps(self) -> int:
        """Optimizer steps that the whole run will have done at its end, from where it stands now."""
        done_in_epochs = self.step + self._steps_left_in_epochs() if self.num_epochs is not None else None
        bounds = [b for b in (self.limits.max_steps, done_in_epochs) if b is not None]
        return max(min(bounds), self.step)

    def _steps_left_in_epochs(self) -> int:
        assert self.num_epochs is not None
        if self.epoch >= self.num_epochs:
            return 0
        left_here = self.micro_batches_per_epoch - self.micro_batch
        here = -(-left_here // self.limits.grad_accumulation_steps)
        return here + (self.num_epochs - self.epoch - 1) * self.steps_per_epoch

    @property
    def finished(self) -> bool:
        """Whether no step is left."""
        return self.step >= self.total_steps

    def next_group(self) -> Group | None:
        """Return the group of the next step without moving, or ``None`` when the run is finished."""
        if self.finished:
            return None
        count = min(self.limits.grad_accumulation_steps, self.micro_batches_per_epoch - self.micro_batch)
        return Group(self.step + 1, self.epoch, self.micro_batch, count)

    def advance(self, group: Group) -> None:
        """Take the step of ``group``; an epoch that it completes is left at once."""
        if group != self.next_group():
            raise ValueError(f"{group} does not follow step {self.step}")
        self.step = group.step
        self.micro_batch += group.count
        if self.micro_batch == self.micro_batches_per_epoch:
            self.epoch, self.micro_batch = self.epoch + 1, 0

    def groups(self) -> Iterator[Group]:
        """Yield the groups that are left. The caller advances after each, before it asks for the next."""
        while (group := self.next_group()) is not None:
            yield group
            if self.step < group.step:
                raise RuntimeError(f"step {group.step} was not taken")

    def validation_due(self) -> bool:
        """Whether validation follows the step just done."""
        interval = self.limits.val_check_interval
        return interval is not None and self.step > 0 and (self.step % interval == 0 or self.finished)

    def checkpoint_due(self) -> bool:
        """Whether a checkpoint follows the step just done. The last step always has one."""
        interval = self.limits.checkpoint_interval
        return self.step > 0 and (self.finished or (interval is not None and self.step % interval == 0))

    def log_due(self) -> bool:
        """Whether the step just done is shown: the first, the last and every ``log_interval``-th."""
        return self.step > 0 and (self.step == 1 or self.finished or self.step % self.limits.log_interval == 0)

    def state_dict(self) -> dict[str, int]:
        """Return the position as plain integers."""
        return {"step": self.step, "epoch": self.epoch, "micro_batch": self.micro_batch}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Stand where ``state`` says. Limits are not part of the state: a resumed run may be given more steps."""
        step, epoch, micro_batch = (int(state[key]) for key in ("step", "epoch", "micro_batch"))
        if step < 0 or epoch < 0 or not 0 <= micro_batch < self.micro_batches_per_epoch:
            raise ValueError(
                f"position {dict(state)} does not exist in epochs of {self.micro_batches_per_epoch} micro-batches"
            )
        self.step, self.epoch, self.micro_batch = step, epoch, micro_batch
