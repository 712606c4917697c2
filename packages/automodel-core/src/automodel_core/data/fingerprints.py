"""Digests of values and files, for keys that change when what they stand for does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any


def canonical_bytes(value: Any) -> bytes:
    """Return plain data as bytes that are equal for equal data, whatever the order of keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")


def digest_of_value(value: Any) -> str:
    """Return the digest of plain data."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def digest_of_file(path: Path) -> str:
    """Return the digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of_files(paths: Iterable[Path]) -> str:
    """Return the digest of the bytes of several files, in order. Their names do not matter."""
    return digest_of_value([digest_of_file(path) for path in paths])


@cache
def digest_of_code(*directories: Path) -> str:
    """Return the digest of the Python sources in ``directories`` and below."""
    return digest_of_files(path for directory in directories for path in sorted(directory.rglob("*.py")))
