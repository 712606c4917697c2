"""Where a run's tensors live."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import torch

from automodel_core.training.batches import Batch


def choose_device() -> torch.device:
    """Return this process's GPU where there is one (``LOCAL_RANK`` says which), the CPU elsewhere."""
    if torch.cuda.is_available():
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return torch.device("cpu")


def to_device(batch: Batch, device: torch.device) -> dict[str, Any]:
    """Return ``batch`` with its tensors, also those in mappings of it, on ``device``; everything else as it is."""
    return {key: _moved(value, device) for key, value in batch.items()}


def _moved(value: Any, device: torch.device) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device, non_blocking=True)
    return to_device(value, device) if isinstance(value, Mapping) else value
