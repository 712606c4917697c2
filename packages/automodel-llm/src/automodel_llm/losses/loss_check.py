"""Trying a loss once before the run relies on it."""

from __future__ import annotations

import warnings
from typing import Final

import torch

from automodel_llm.data.prompt_answer import IGNORED
from automodel_llm.losses.token_loss import SummedTokenLoss

_CLASSES: Final = 8


def check_loss(loss: SummedTokenLoss, name: str) -> None:
    """Raise ``ValueError`` when ``loss`` makes no scalar of (logits (N, V), labels (N,)): it is for something else."""
    weight = getattr(loss.per_call, "weight", None)
    classes = len(weight) if isinstance(weight, torch.Tensor) and weight.ndim == 1 else _CLASSES
    logits = torch.zeros(3, classes)
    labels = torch.tensor([0, classes - 1, IGNORED])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what torch says of shapes before it refuses them
            result = loss(logits, labels)
    except (TypeError, RuntimeError, ValueError, IndexError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"`{name}` does not take logits (N, V) and labels (N,): {reason}") from error
    if not isinstance(result, torch.Tensor) or result.numel() != 1:
        raise ValueError(f"`{name}` gives no scalar for logits (N, V) and labels (N,)")
