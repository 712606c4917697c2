"""What the loop passes to a domain and gets back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import torch

Batch: TypeAlias = Mapping[str, Any]
"""One micro-batch as the collate function made it: names to tensors on the host."""


@attrs.frozen
class StepLoss:
    """The loss of a group or of a validation batch, as a sum so that sums over groups and ranks stay exact.

    ``total`` is the detached 0-d sum over targets; ``targets`` their number; ``tokens`` the number of tokens (or
    samples, where a domain has no tokens) that went through the model, padding excluded; ``sequences`` the number of
    sequences that they make up.
    """

    total: torch.Tensor
    targets: int
    tokens: int
    sequences: int

    @property
    def mean(self) -> float:
        """The mean over targets; 0 when there are none."""
        return float(self.total) / max(self.targets, 1)


def add_losses(losses: Sequence[StepLoss]) -> StepLoss:
    """Return the sum of losses over micro-batches."""
    return StepLoss(
        total=torch.stack([loss.total for loss in losses]).sum(),
        targets=sum(loss.targets for loss in losses),
        tokens=sum(loss.tokens for loss in losses),
        sequences=sum(loss.sequences for loss in losses),
    )
