"""Time, memory and FLOPs of a step."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import attrs
import torch
from torch import nn

from automodel_core.infrastructure.blueprint import ModelAdapter
from automodel_core.training.batches import StepLoss

GIB: Final = 2**30

PEAK_BF16_FLOPS: Final = {
    "H200": 989e12,
    "H100": 989e12,
    "A100": 312e12,
    "B200": 2250e12,
    "GB200": 2500e12,
    "L40S": 362e12,
    "A10": 125e12,
    "V100": 125e12,
}
"""Dense bf16 (V100: fp16) tensor FLOPs a second by device name, from the vendor's data sheets (SXM where two exist)."""


def peak_flops(device: torch.device) -> float | None:
    """Return the peak FLOPs a second of ``device``, or ``None`` where the table does not know it."""
    if device.type != "cuda":
        return None
    words = torch.cuda.get_device_name(device).upper().replace("-", " ").split()
    return next((PEAK_BF16_FLOPS[word] for word in words if word in PEAK_BF16_FLOPS), None)


def peak_memory(device: torch.device) -> float:
    """Return the peak memory in GiB: allocated on the device, or resident for the process on CPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / GIB
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / GIB


@attrs.define
class StepClock:
    """Wall time from the end of one step to the end of the next, loading and logging included."""

    device: torch.device
    flops_per_token: Callable[[int], float | None]
    """Maps a sequence length to the training FLOPs of one token."""
    _last: float = attrs.field(factory=time.perf_counter)

    def restart(self) -> None:
        """Start counting now: what came since the last step (validation, a checkpoint) is not the step's."""
        self._last = time.perf_counter()

    def lap(self, loss: StepLoss) -> tuple[float, float | None]:
        """Return (tokens per second, MFU) of the step that ends now. The MFU takes sequences of the mean length."""
        now = time.perf_counter()
        rate = loss.tokens / max(now - self._last, 1e-9)
        self._last = now
        peak = peak_flops(self.device)
        flops = self.flops_per_token(round(loss.tokens / max(loss.sequences, 1))) if peak is not None else None
        return rate, None if peak is None or flops is None else rate * flops / peak


def flops_per_token(adapter: ModelAdapter, model: nn.Module) -> Callable[[int], float | None]:
    """Return the adapter's count as a function of the sequence length, remembered for each length."""
    return lru_cache(maxsize=256)(lambda sequence_length: adapter.flops_per_token(model, sequence_length))
