"""Image files that rows name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from automodel_core.data.columns import structure_of
from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

_UNREADABLE = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)
"""What PIL raises for a file that is no image, or a damaged one."""


def image_paths(row: Row, column: str | None) -> list[str]:
    """Return what ``column`` names: a path, a list of paths, or nothing. Raises :class:`InputError` (AM308)."""
    if column is None or row.record.get(column) in (None, ""):
        return []
    value: Any = row.record[column]
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [value]
    value = structure_of(row, column)
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        message = f"`{row.place}`: column `{column}` must hold the path of an image, or a list of paths"
        raise InputError(Diagnostic("AM308", message))
    return value


def found_images(row: Row, paths: Sequence[str]) -> list[Path]:
    """Return the files of ``paths``, which are relative to the file that has the row.

    Raises :class:`InputError` (AM371) naming every one that is not there.
    """
    files = [row.directory / Path(path).expanduser() for path in paths]
    problems = [
        Diagnostic(
            "AM371",
            f"`{row.place}`: there is no image `{path}`",
            helps=(f"paths in data are relative to `{row.directory}`",),
        )
        for path, file in zip(paths, files, strict=True)
        if not file.is_file()
    ]
    if problems:
        raise InputError(problems)
    return files


def size_of(file: Path, place: str) -> tuple[int, int]:
    """Return (width, height), reading no pixels. Raises :class:`InputError` (AM372) for what is no image."""
    try:
        with Image.open(file) as opened:
            return opened.size
    except _UNREADABLE as error:
        raise _no_image(file, place, error) from None


def read_image(file: Path, place: str) -> Image.Image:
    """Return the pixels in colour. Raises :class:`InputError` (AM372) for what is no image, or a damaged one."""
    try:
        with Image.open(file) as opened:
            return opened.convert("RGB")
    except _UNREADABLE as error:
        raise _no_image(file, place, error) from None


def _no_image(file: Path, place: str, error: Exception) -> InputError:
    return InputError(Diagnostic("AM372", f"{place}`{file}` cannot be read as an image: {error}"))
