"""torch, and the devices that it can use. torch is imported when a check runs, not before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from automodel_core.doctor.finding import Finding

GIB: Final = 2**30
_NVIDIA_DEVICES: Final = Path("/proc/driver/nvidia/gpus")
_BF16_FLAGS: Final = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
"""Flags of x86 and Arm processors, as Linux names them."""


@attrs.frozen
class TorchFacts:
    """What torch says of its build."""

    version: str
    build: str
    """``cpu``, ``CUDA 13.0`` or ``ROCm 7.1``."""
    can_use_gpu: bool
    machine_has_nvidia: bool


def import_problem() -> str | None:
    """Return why torch cannot be imported, or ``None``."""
    try:
        import torch  # noqa: F401 (the attempt is the check)
    except (ImportError, OSError) as error:  # OSError: a shared library of the build is missing.
        return " ".join(str(error).split())
    return None


def torch_version() -> Finding:
    """Tell torch's build; a GPU that it cannot use is worth a warning."""
    problem = import_problem()
    if problem is not None:
        return Finding("torch", "fail", f"torch cannot be imported: {problem}", "install it anew: pip install torch")
    import torch

    build = "cpu"
    if torch.version.hip:
        build = f"ROCm {torch.version.hip}"
    elif torch.version.cuda:
        build = f"CUDA {torch.version.cuda}"
    has_nvidia = _NVIDIA_DEVICES.is_dir() and any(_NVIDIA_DEVICES.iterdir())
    return torch_finding(TorchFacts(torch.__version__, build, torch.cuda.is_available(), has_nvidia))


def torch_finding(facts: TorchFacts) -> Finding:
    """Compare the build with the machine."""
    message = f"{facts.version}, built for {facts.build}"
    if facts.build == "cpu" and facts.machine_has_nvidia:
        return Finding(
            "torch", "warn", f"{message}: the NVIDIA GPU of this machine is not used", "install torch built for CUDA"
        )
    if facts.build != "cpu" and not facts.can_use_gpu:
        fix = "check the driver (`nvidia-smi` or `rocm-smi`) and CUDA_VISIBLE_DEVICES"
        return Finding("torch", "warn", f"{message}, but it can use no GPU here", fix)
    return Finding("torch", "ok", message)


def devices() -> Iterator[Finding]:
    """List what a run can train on; nothing without torch."""
    if import_problem() is not None:
        return
    import torch

    for index in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        properties = torch.cuda.get_device_properties(index)
        free, total = torch.cuda.mem_get_info(index)
        capability = f"compute capability {properties.major}.{properties.minor}"
        memory = f"{total / GIB:.1f} GiB, {free / GIB:.1f} GiB free"
        yield Finding(f"cuda:{index}", "ok", f"{properties.name}, {memory}, {capability}")
    threads = torch.get_num_threads()
    yield Finding(
        "cpu", "ok", f"{torch.backends.cpu.get_cpu_capability()}, {threads} thread{'s' if threads > 1 else ''}"
    )


def bfloat16() -> Iterator[Finding]:
    """Tell whether bf16 is computed by the hardware of the device that a run would train on; nothing without torch."""
    if import_problem() is not None:
        return
    import torch

    if torch.cuda.is_available():
        native = torch.cuda.is_bf16_supported(including_emulation=False)
        yield bf16_finding(torch.cuda.get_device_name(), native=native, is_gpu=True)
    else:
        yield bf16_finding("this processor", native=bool(_BF16_FLAGS & processor_flags()), is_gpu=False)


def bf16_finding(device: str, *, native: bool, is_gpu: bool) -> Finding:
    """A GPU without bf16 is a warning: configs for GPUs often ask for it. On processors float32 is the usual choice."""
    if native:
        return Finding("bf16", "ok", f"{device} computes in bf16")
    message = f"{device} has no bf16 of its own: it works, slower than float32"
    if is_gpu:
        return Finding("bf16", "warn", message, "set `model.dtype: float32`")
    return Finding("bf16", "ok", message)


def processor_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """Return the features of the first processor, or none where the system does not tell."""
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, flags = line.partition(":")
            if key.strip() in ("flags", "Features"):
                return frozenset(flags.split())
    return frozenset()
