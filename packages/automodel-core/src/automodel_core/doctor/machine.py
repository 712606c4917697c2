"""Processors and memory, as far as the container lets this process have them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from automodel_core.doctor.finding import Finding

GIB: Final = 2**30
LITTLE_MEMORY: Final = 2 * GIB
_CGROUP_ROOT: Final = Path("/sys/fs/cgroup")
_UNLIMITED: Final = 2**60
"""Version 1 of control groups writes a number near 2**63 where there is no limit."""


@attrs.frozen
class Limits:
    """What the control groups of a process allow; ``None`` where they set no limit."""

    processors: float | None = None
    memory_bytes: int | None = None


def processors() -> Finding:
    """Compare the processors that this process sees with those that it may use."""
    return processors_finding(usable_processors(), cgroup_limits())


def processors_finding(seen: int, limits: Limits) -> Finding:
    """Warn when threads would be started for processors that a limit takes away again."""
    if limits.processors is None or limits.processors >= seen:
        return Finding("processors", "ok", f"{seen} usable")
    threads = max(int(limits.processors), 1)
    message = f"{seen} seen, but the container is limited to {limits.processors:g}"
    return Finding("processors", "warn", message, f"set OMP_NUM_THREADS={threads}")


def memory() -> Finding:
    """Tell the memory of the machine and what is left of it."""
    return memory_finding(total_memory(), available_memory(), cgroup_limits())


def memory_finding(total: int, available: int | None, limits: Limits) -> Finding:
    """Warn when there is little to train with."""
    allowed = total if limits.memory_bytes is None else min(limits.memory_bytes, total)
    message = f"{total / GIB:.1f} GiB"
    if available is not None:
        message += f", {available / GIB:.1f} GiB available"
    if allowed < total:
        message += f", the container is limited to {allowed / GIB:.1f} GiB"
    if min(allowed, available or allowed) < LITTLE_MEMORY:
        return Finding("memory", "warn", message, "stop other programs, or raise the container's limit")
    return Finding("memory", "ok", message)


def usable_processors() -> int:
    """Return the processors that the scheduler may put this process on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def total_memory() -> int:
    """Return the bytes of memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Return the bytes that could be had without swapping, or ``None`` where the system does not tell."""
    if meminfo.is_file():
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def cgroup_limits(root: Path = _CGROUP_ROOT, membership: Path = Path("/proc/self/cgroup")) -> Limits:
    """Return the tightest limits on the way from this process's control group to the root, of either version."""
    processors: list[float] = []
    memories: list[int] = []
    for group in _groups(root, membership):
        quota = _words(group / "cpu.max")
        if len(quota) == 2 and quota[0] != "max":
            processors.append(int(quota[0]) / int(quota[1]))
        memories += [int(word) for word in _words(group / "memory.max") if word != "max"]
    quota = _words(root / "cpu" / "cpu.cfs_quota_us")
    if quota and int(quota[0]) > 0:
        processors.append(int(quota[0]) / int(_words(root / "cpu" / "cpu.cfs_period_us")[0]))
    memories += [int(word) for word in _words(root / "memory" / "memory.limit_in_bytes")]
    return Limits(
        processors=min(processors, default=None),
        memory_bytes=min((limit for limit in memories if limit < _UNLIMITED), default=None),
    )


def _groups(root: Path, membership: Path) -> Iterator[Path]:
    """Yield the root of version 2 and the groups below it that this process is in."""
    own = next((line[3:] for line in _lines(membership) if line.startswith("0::")), "/")
    group = root
    yield group
    for part in Path(own).parts[1:]:
        group = group / part
        yield group


def _words(path: Path) -> list[str]:
    return [word for line in _lines(path) for word in line.split()]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
