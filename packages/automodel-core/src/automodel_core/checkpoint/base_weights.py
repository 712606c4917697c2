"""Which weights adapters were trained on: a digest of samples, since all of a large model takes too long to read."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Final

SAMPLES: Final = 64
SAMPLE_BYTES: Final = 1 << 14


def base_digest(directory: Path | None) -> str | None:
    """Return a digest of the names, the sizes and evenly spaced samples of the weight files below ``directory``.

    The first sample of a file has its table of tensors. ``None`` without a directory: what starts from a seed is
    described by the config. Weights that training changed differ in nearly every sample.
    """
    if directory is None:
        return None
    files = sorted(p for p in directory.rglob("*.safetensors") if p.is_file())
    return _digest(directory, tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files))


@lru_cache(maxsize=4)
def _digest(directory: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    found = hashlib.sha256()
    for file, size, _ in files:
        found.update(f"{file.relative_to(directory)}:{size};".encode())
        with file.open("rb") as stream:
            for number in range(SAMPLES):
                stream.seek(max(0, size - SAMPLE_BYTES) * number // (SAMPLES - 1))
                found.update(stream.read(SAMPLE_BYTES))
    return found.hexdigest()
