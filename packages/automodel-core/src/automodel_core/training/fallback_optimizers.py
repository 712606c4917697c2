"""Optimizers of packages that need CUDA kernels, done by torch's own.

Each takes the arguments of the optimizer that it stands for. What changes the step is honoured or refused; what only
says how the state is stored has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch


def fused_adam(
    params: Iterable[Any],
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    *,
    adam_w_mode: bool = True,
    bias_correction: bool = True,
    master_weights: bool = False,
    store_param_remainders: bool = False,
    master_weight_dtype: Any = None,
    exp_avg_dtype: Any = None,
    exp_avg_sq_dtype: Any = None,
) -> torch.optim.Optimizer:
    """Return AdamW, or Adam without ``adam_w_mode``, in place of Transformer Engine's ``FusedAdam``.

    Raises:
        ValueError: without ``bias_correction``, which torch's optimizers always do.
    """
    if not bias_correction:
        raise ValueError("`bias_correction: false` is not available: torch's Adam always corrects")
    kind = torch.optim.AdamW if adam_w_mode else torch.optim.Adam
    return kind(params, lr=lr, betas=(betas[0], betas[1]), eps=eps, weight_decay=weight_decay)


def flash_adamw(
    params: Iterable[Any],
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
    *,
    master_weight_bits: int | None = None,
    compress_state_dict: bool = False,
) -> torch.optim.Optimizer:
    """Return AdamW in place of ``flashoptim.FlashAdamW``, which keeps its state compressed."""
    return torch.optim.AdamW(params, lr=lr, betas=(betas[0], betas[1]), eps=eps, weight_decay=weight_decay)
