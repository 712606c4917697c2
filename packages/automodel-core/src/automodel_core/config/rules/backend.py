"""Process groups that this machine cannot make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from automodel_core.config.rules.rule import Situation
from automodel_core.diagnostics import Diagnostic

_GPU_BACKEND: Final = "nccl"
_GPU_DEVICES: Final = (Path("/dev/nvidiactl"), Path("/dev/dxg"), Path("/dev/kfd"))
"""What the drivers of NVIDIA, of Windows' subsystem for Linux and of AMD make."""


def gpu_backend_without_gpus(situation: Situation) -> Iterator[Diagnostic]:
    """``dist_env.backend: nccl`` is read as gloo where there is no GPU, as on a laptop or in CI."""
    span = situation.config.span("dist_env.backend")
    if situation.config.dist_env.backend == _GPU_BACKEND and span is not None and not has_gpu():
        message = "`dist_env.backend: nccl` is read as `gloo` here: this machine has no GPU"
        helps = ("write `backend: auto`, which is nccl on GPUs and gloo on CPUs",)
        yield Diagnostic("AM918", message, span, "needs GPUs", helps, severity="warning")


def has_gpu(devices: Iterable[Path] = _GPU_DEVICES) -> bool:
    """Return whether a driver of GPUs is loaded, without importing torch."""
    return any(device.exists() for device in devices)
