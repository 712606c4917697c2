"""Room on the disks that a run writes to."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from automodel_core.cache import CACHE_VARIABLE, cache_directory
from automodel_core.doctor.finding import Finding

GIB: Final = 2**30
LITTLE_SPACE: Final = 5 * GIB
_OFF: Final = frozenset({"", "0", "off", "no", "false"})


def checkpoint_space(directory: Path) -> Finding:
    """Check the disk that checkpoints go to, unless a config says another directory."""
    fix = "set `checkpoint.directory` to a directory with more room, or `checkpoint.keep_last`"
    return space_finding("checkpoints", directory, fix)


def cache_findings() -> Iterator[Finding]:
    """Check the caches: of the Hugging Face hub, and our own."""
    yield space_finding("HF_HOME", hub_home(os.environ), "set HF_HOME to a directory with more room")
    yield space_finding(CACHE_VARIABLE, cache_directory(), f"set {CACHE_VARIABLE} to a directory with more room")


def hub_home(environment: Mapping[str, str]) -> Path:
    """Return where the Hugging Face libraries keep what they download."""
    chosen = environment.get("HF_HOME")
    if chosen:
        return Path(chosen).expanduser()
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base).expanduser() if base else Path.home() / ".cache") / "huggingface"


def hub_access() -> Finding:
    """Tell whether the hub may be asked. It is not: no check goes to the network."""
    return hub_finding(os.environ)


def hub_finding(environment: Mapping[str, str]) -> Finding:
    """Tell what ``HF_HUB_OFFLINE`` says."""
    if environment.get("HF_HUB_OFFLINE", "").lower() in _OFF:
        return Finding("hub", "ok", "HF_HUB_OFFLINE is not set: a model or data set by hub id may be downloaded")
    return Finding("hub", "ok", "HF_HUB_OFFLINE is set: only what is on this machine can be used")


def space_finding(name: str, directory: Path, fix: str) -> Finding:
    """Check that ``directory`` could be written to, and the room on its disk. It need not exist, and is not made."""
    home = nearest_directory(directory)
    try:
        with tempfile.TemporaryFile(dir=home):
            free = shutil.disk_usage(home).free
    except OSError as error:
        fix = fix.replace("with more room", "that you may write to")
        return Finding(name, "fail", f"{home} cannot be written to: {error.strerror}", fix)
    message = f"{free / GIB:.1f} GiB free in {directory}"
    return Finding(name, "ok" if free >= LITTLE_SPACE else "warn", message, "" if free >= LITTLE_SPACE else fix)


def nearest_directory(path: Path) -> Path:
    """Return ``path``, or the closest directory above it that exists."""
    path = path.expanduser().absolute()
    return next(parent for parent in (path, *path.parents) if parent.exists())
