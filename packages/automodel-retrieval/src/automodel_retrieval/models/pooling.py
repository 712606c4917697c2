"""From the hidden states of a text to its embedding."""

from __future__ import annotations

from typing import Final

import torch

from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError

POOLINGS: Final = ("mean", "cls", "last_token")
_OTHER_NAMES: Final = {"avg": "mean", "average": "mean", "last": "last_token", "lasttoken": "last_token"}


def pooling_named(name: str) -> str:
    """Return our name of a pooling. Raises :class:`InputError` (AM385) for one that there is not."""
    found = _OTHER_NAMES.get(name, name)
    if found not in POOLINGS:
        helps = (*did_you_mean(name, POOLINGS), "the poolings are " + ", ".join(f"`{known}`" for known in POOLINGS))
        raise InputError(Diagnostic("AM385", f"`pooling` is `{name}`, which is none", helps=helps))
    return found


def pooled(hidden_BTH: torch.Tensor, mask_BT: torch.Tensor, pooling: str) -> torch.Tensor:
    """Return one vector of each row, (B, H): of the tokens that ``mask_BT`` keeps, on whichever side padding is."""
    if pooling == "mean":
        weights_BT1 = mask_BT.unsqueeze(-1).to(hidden_BTH.dtype)
        return (hidden_BTH * weights_BT1).sum(1) / weights_BT1.sum(1).clamp(min=1e-9)
    kept = mask_BT.to(torch.long)
    length = mask_BT.shape[1]
    first = kept.argmax(1)
    last = length - 1 - kept.flip(1).argmax(1)
    index = first if pooling == "cls" else last
    return hidden_BTH[torch.arange(len(hidden_BTH), device=hidden_BTH.device), index]
