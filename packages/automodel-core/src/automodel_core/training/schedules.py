"""Learning-rate schedules, stepped once an optimizer step."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler


class CosineAnnealingWarmup(LRScheduler):
    """Linear warm-up, then half a cosine down to ``min_lr``.

    With ``s`` the number of the step (from 1), ``W`` the warm-up steps and ``T`` the total: ``lr = base · s / W`` for
    ``s ≤ W``, then ``min_lr + (base - min_lr) · (1 + cos(π (s - W) / (T - W))) / 2``, which is ``min_lr`` at ``s = T``
    and after (Loshchilov and Hutter, 2017, one cycle). The first step is never taken at a rate of zero.

    ``total_steps`` is given by the recipe from the step scheduler when the config leaves it out.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        warmup_steps: int = 0,
        min_lr: float = 0.0,
        *,
        total_steps: int,
        last_epoch: int = -1,
    ) -> None:
        if warmup_steps < 0:
            raise ValueError(f"`warmup_steps` must not be negative, it is {warmup_steps}")
        if min_lr < 0:
            raise ValueError(f"`min_lr` must not be negative, it is {min_lr}")
        self.warmup_steps = warmup_steps
        self.min_lr = min_lr
        self.total_steps = total_steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | torch.Tensor]:
        """Return the rate of each parameter group for the step that comes next."""
        return [self.rate(float(base), self.last_epoch + 1) for base in self.base_lrs]

    def rate(self, base: float, step: int) -> float:
        """Return the rate of step ``step`` (from 1) for a group whose full rate is ``base``."""
        if step <= self.warmup_steps:
            return base * step / self.warmup_steps
        span = self.total_steps - self.warmup_steps
        progress = min(1.0, (step - self.warmup_steps) / span) if span > 0 else 1.0
        return self.min_lr + (base - self.min_lr) * (1 + math.cos(math.pi * progress)) / 2

    def state_dict(self) -> dict[str, Any]:
        """Return the position. The shape of the curve is the config's and is not part of the state."""
        state: dict[str, Any] = super().state_dict()
        return {k: v for k, v in state.items() if k not in ("warmup_steps", "min_lr", "total_steps")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Stand at the saved position, on the curve that the config of this run describes."""
        super().load_state_dict(state_dict)
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]
