"""Learning-rate schedules, stepped once an optimizer step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, Literal

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

_DECAYS: Final[dict[str, Callable[[float], float]]] = {
    "constant": lambda progress: 1.0,
    "linear": lambda progress: 1.0 - progress,
    "cosine": lambda progress: (1 + math.cos(math.pi * progress)) / 2,
}
"""How much of the way from ``min_lr`` up to the full rate is left, after a share of the decay from 0 to 1."""
_OF_THE_CONFIG: Final = ("warmup_steps", "min_lr", "init_lr", "decay", "decay_steps", "total_steps")


class WarmupDecay(LRScheduler):
    """Linear warm-up from ``init_lr``, then a decay to ``min_lr``.

    With ``s`` the number of the step (from 1), ``W`` the warm-up steps and ``D`` the step at which the decay ends:
    ``lr = init_lr + (base - init_lr) · s / W`` for ``s ≤ W``, then ``min_lr + (base - min_lr) · d((s - W) / (D - W))``
    with ``d(p)`` = 1 for ``constant``, ``1 - p`` for ``linear`` and ``(1 + cos(π p)) / 2`` for ``cosine`` (Loshchilov
    and Hutter, 2017, one cycle). The rate is that of ``s = D`` after it. The first step is not at a rate of zero.

    ``total_steps`` is given by the recipe from the step scheduler when the config leaves it out; ``decay_steps``
    stands for ``D`` where the decay shall end at another step.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        warmup_steps: int = 0,
        min_lr: float = 0.0,
        decay: Literal["constant", "linear", "cosine"] = "cosine",
        init_lr: float = 0.0,
        decay_steps: int | None = None,
        *,
        total_steps: int,
        last_epoch: int = -1,
    ) -> None:
        for name, value in (("warmup_steps", warmup_steps), ("min_lr", min_lr), ("init_lr", init_lr)):
            if value < 0:
                raise ValueError(f"`{name}` must not be negative, it is {value}")
        if decay not in _DECAYS:
            raise ValueError(f"`decay` must be one of {', '.join(_DECAYS)}, it is {decay}")
        self.warmup_steps = warmup_steps
        self.min_lr = min_lr
        self.init_lr = init_lr
        self.decay = decay
        self.total_steps = total_steps
        self.decay_steps = decay_steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | torch.Tensor]:
        """Return the rate of each parameter group for the step that comes next."""
        return [self.rate(float(base), self.last_epoch + 1) for base in self.base_lrs]

    def rate(self, base: float, step: int) -> float:
        """Return the rate of step ``step`` (from 1) for a group whose full rate is ``base``."""
        if step <= self.warmup_steps:
            return self.init_lr + (base - self.init_lr) * step / self.warmup_steps
        if self.decay == "constant":
            return base
        end = self.total_steps if self.decay_steps is None else self.decay_steps
        span = end - self.warmup_steps
        progress = min(1.0, (step - self.warmup_steps) / span) if span > 0 else 1.0
        return self.min_lr + (base - self.min_lr) * _DECAYS[self.decay](progress)

    def state_dict(self) -> dict[str, Any]:
        """Return the position. The shape of the curve is the config's and is not part of the state."""
        state: dict[str, Any] = super().state_dict()
        return {k: v for k, v in state.items() if k not in _OF_THE_CONFIG}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Stand at the saved position, on the curve that the config of this run describes."""
        super().load_state_dict(state_dict)
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]


class CosineAnnealingWarmup(WarmupDecay):
    """:class:`WarmupDecay` with half a cosine, warming up from zero."""

    def __init__(
        self,
        optimizer: Optimizer,
        warmup_steps: int = 0,
        min_lr: float = 0.0,
        *,
        total_steps: int,
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer, warmup_steps, min_lr, total_steps=total_steps, last_epoch=last_epoch)
