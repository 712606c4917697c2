"""Time, memory and FLOPs of a step."""

from __future__ import annotations

import resource
import sys
import time
from typing import Final

import attrs
import torch

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
"""Dense bf16 (V100: fp16) tensor FLOPs a second by device name, from the vendor's data sheets, SXM where there are two."""


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
    flops_per_token: float | None = None
    _last: float = attrs.field(factory=time.perf_counter)

    def restart(self) -> None:
        """Start counting now: what came since the last step (validation, a checkpoint) is not the step's."""
        self._last = time.perf_counter()

    def lap(self, tokens: int) -> tuple[float, float | None]:
        """Return (tokens per second, MFU) of the step that ends now."""
        now = time.perf_counter()
        rate = tokens / max(now - self._last, 1e-9)
        self._last = now
        peak = peak_flops(self.device)
        if peak is None or self.flops_per_token is None:
            return rate, None
        return rate, rate * self.flops_per_token / peak
