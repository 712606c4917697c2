"""What similarities are divided by before the softmax: a number, or a parameter that is trained."""

from __future__ import annotations

import math

import torch
from torch import nn


class Temperature(nn.Module):
    """Divides similarities by a temperature.

    A learned one is kept as ``log(1 / temperature)``, as in CLIP (Radford et al. 2021), so that it stays above zero
    and a step changes it by a factor. It starts at ``start``, and has no part in the module when it is fixed.
    """

    def __init__(self, start: float, *, learned: bool) -> None:
        super().__init__()
        self.start = start
        self.learned = learned
        if learned:
            self.log_inverse = nn.Parameter(torch.empty(1, dtype=torch.float32))
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the temperature to where it starts."""
        nn.init.constant_(self.log_inverse, math.log(1 / self.start))

    def scaled(self, similarities: torch.Tensor) -> torch.Tensor:
        """Return ``similarities`` over the temperature."""
        return similarities * self.log_inverse.exp() if self.learned else similarities / self.start

    def value(self) -> float:
        """Return the temperature as it is now."""
        return float((-self.log_inverse.detach()).exp()) if self.learned else self.start
