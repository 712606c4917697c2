"""Which dtypes a model trains in."""

from __future__ import annotations

from collections import Counter

import torch
from torch import nn

from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError


def trainable_dtypes(model: nn.Module) -> dict[str, int]:
    """Return how many trainable parameters there are of each dtype, the most frequent first."""
    counts: Counter[str] = Counter()
    for parameter in model.parameters():
        if parameter.requires_grad:
            counts[str(parameter.dtype).removeprefix("torch.")] += parameter.numel()
    return dict(counts.most_common())


def check_precision(model: nn.Module, span: Span | None) -> None:
    """Raise :class:`InputError` when float16 weights would be trained on the CPU.

    float16 overflows at 65,504 and needs loss scaling, which there is none of; bfloat16 has the range of float32.
    """
    half = [n for n, p in model.named_parameters() if p.requires_grad and p.dtype is torch.float16 and not p.is_cuda]
    if half:
        message = (
            f"`{half[0]}` and {len(half) - 1} more trainable weights are float16, which cannot be trained on a CPU"
        )
        helps = ("use `dtype: float32` or `dtype: bfloat16`",)
        raise InputError(Diagnostic("AM433", message, span, helps=helps))
