"""Sizes in bytes as people write them."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def parse_size(text: str) -> int:
    """Return the bytes of ``"5GB"``, ``"500 MiB"`` or ``"1000"``. Raises ``ValueError`` for anything else."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    unit = match[2].upper() or "B" if match else ""
    if match is None or unit not in _UNITS or float(match[1]) <= 0:
        raise ValueError(f"`{text}` is not a size; write it like `5GB` or `500MiB`")
    return max(int(float(match[1]) * _UNITS[unit]), 1)
