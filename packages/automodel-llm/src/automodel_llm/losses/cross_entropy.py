"""Cross-entropy summed over supervised tokens, with one matrix of the vocabulary's width between forward and backward.

Autograd keeps the log-probabilities and makes two matrices of their size in the backward pass, one of them zeros but
for a value in each row. Here the gradient takes the place of the log-probabilities, which nobody else holds.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

from automodel_llm.data.prompt_answer import IGNORED


class _SummedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        log_probabilities = functional.log_softmax(logits, dim=-1)
        ctx.save_for_backward(log_probabilities, labels)
        return functional.nll_loss(log_probabilities, labels, ignore_index=IGNORED, reduction="sum")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None]:
        log_probabilities, labels = ctx.saved_tensors
        slopes = ((labels != IGNORED) * slope)[:, None]
        # Scaled before the label's share is taken off, as torch does: the same rounding where both are close.
        gradient = log_probabilities.exp_().mul_(slopes)
        return gradient.scatter_add_(1, labels.clamp(min=0)[:, None], -slopes), None


def masked_cross_entropy(
    fp32_upcast: bool = True, ignore_index: int = IGNORED, reduction: str = "mean"
) -> torch.nn.CrossEntropyLoss:
    """Return the cross-entropy over labels other than ``ignore_index``.

    The run takes logits in float32 and a sum in any case, so that ``fp32_upcast`` and ``reduction`` change nothing.
    """
    return torch.nn.CrossEntropyLoss(ignore_index=ignore_index, reduction=reduction)


def summed_cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the sum over labels other than -100 of the cross-entropy of ``logits`` (N, V) with ``labels`` (N,).

    One backward pass is possible: a second one, with ``retain_graph``, is refused by autograd.
    """
    loss: torch.Tensor = _SummedCrossEntropy.apply(logits, labels)  # type: ignore[no-untyped-call]
    return loss
