"""Losses of a cross-encoder's scores of pairs."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import nn


class PointwiseBCE(nn.Module):
    """Binary cross-entropy of every pair on its own, summed over pairs. ``positive_weight`` weighs positives."""

    per_query: ClassVar[bool] = False

    def __init__(self, positive_weight: float = 1.0) -> None:
        super().__init__()
        self.positive_weight = positive_weight

    def forward(self, scores_P: torch.Tensor, labels_P: torch.Tensor, group_P: torch.Tensor) -> torch.Tensor:
        """Return the summed loss, 0-d. ``scores`` are logits."""
        weight = torch.tensor(self.positive_weight, device=scores_P.device)
        return nn.functional.binary_cross_entropy_with_logits(
            scores_P.float(), labels_P.float(), pos_weight=weight, reduction="sum"
        )


class GroupContrastive(nn.Module):
    """The cross-entropy of each query's positive among the query's own pairs, summed over queries.

    ``temperature`` divides the scores.
    """

    per_query: ClassVar[bool] = True

    def __init__(self, temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, scores_P: torch.Tensor, labels_P: torch.Tensor, group_P: torch.Tensor) -> torch.Tensor:
        """Return the summed loss, 0-d. Every group has one positive."""
        queries = int(group_P.max()) + 1
        member_QP = group_P[None, :] == torch.arange(queries, device=group_P.device)[:, None]
        logits_P = scores_P.float() / self.temperature
        normaliser_Q = logits_P.expand(queries, -1).masked_fill(~member_QP, float("-inf")).logsumexp(1)
        return normaliser_Q.sum() - (logits_P * labels_P).sum()
