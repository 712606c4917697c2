"""What the loop passes to a domain and gets back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

if TYPE_CHECKING:
    import torch

Batch: TypeAlias = Mapping[str, Any]
"""One micro-batch as the collate function made it: names to tensors on the host."""


@attrs.frozen
class StepLoss:
    """The loss of a group or of a validation batch, as a sum so that sums over groups and ranks stay exact.

    ``total`` is the detached 0-d sum over targets; ``targets`` their number; ``tokens`` the number of tokens (or
    samples, where a domain has no tokens) that went through the model, padding excluded.
    """

    total: torch.Tensor
    targets: int
    tokens: int
