"""Images that rows hold as bytes, as Parquet files of image data sets do, kept as files."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from automodel_core.cache import cache_directory
from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def embedded_bytes(value: Any) -> bytes | None:
    """Return the encoded image in a cell: bytes, or a mapping with ``bytes``; ``None`` for anything else."""
    if isinstance(value, Mapping):
        value = value.get("bytes")
    return bytes(value) if isinstance(value, bytes | bytearray) and value else None


def kept_as_file(content: bytes, row: Row) -> Path:
    """Return a file of the cache with ``content``, named by its digest.

    Raises :class:`InputError` (AM931) when the cache cannot be written: the images of a data set do not fit in memory.
    """
    digest = hashlib.sha256(content).hexdigest()
    file = (cache_directory() / "images" / digest[:2] / digest).absolute()
    try:
        if not file.exists():
            _write(file, content)
    except OSError as error:
        message = f"`{row.place}`: the image in it cannot be kept at `{file}`: {error.strerror or error}"
        helps = ("set AUTOMODEL_CACHE to a directory with room for the images of the data",)
        raise InputError(Diagnostic("AM931", message, helps=helps)) from None
    return file


def _write(file: Path, content: bytes) -> None:
    """Write a file that is never there in part: another process may look for it meanwhile."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, building = tempfile.mkstemp(dir=file.parent)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
        os.replace(building, file)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(building)
        raise
