"""An exponential moving average of the weights that train."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


class WeightAverage:
    """Follows the trainable weights of ``model`` after each step of ``optimizer``.

    The state holds both the average and the weights that train: a checkpoint shows the average to other tools.
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, *, decay: float, warmup: bool) -> None:
        self.decay, self.warmup, self.steps = decay, warmup, 0
        self._trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self._average = {name: p.detach().clone() for name, p in self._trained.items()}
        optimizer.register_step_post_hook(self._after_step)

    def _after_step(self, *_: Any) -> None:
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps)) if self.warmup else self.decay
        average, trained = list(self._average.values()), [p.detach() for p in self._trained.values()]
        torch._foreach_lerp_(average, trained, 1 - decay)

    def over(self, weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return ``weights`` with the averages in the place of what trains."""
        return {**weights, **self._average}

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Let the model have the averages meanwhile; nothing is copied."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for name, parameter in self._trained.items():
            parameter.data, self._average[name] = self._average[name], parameter.data

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Return the averages, the trained weights and the number of steps."""
        return {
            "steps": torch.tensor(self.steps),
            **{f"average:{name}": tensor for name, tensor in self._average.items()},
            **{f"trained:{name}": parameter for name, parameter in self._trained.items()},
        }

    @torch.no_grad()
    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Put the averages and the trained weights back."""
        self.steps = int(state["steps"])
        for name, parameter in self._trained.items():
            parameter.copy_(state[f"trained:{name}"])
            self._average[name].copy_(state[f"average:{name}"])
