"""Image files that rows name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from automodel_core.data.columns import structure_of
from automodel_core.data.embedded_images import embedded_bytes, kept_as_file
from automodel_core.data.image_files import named_file
from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def image_paths(row: Row, column: str | None) -> list[str]:
    """Return what ``column`` names or holds: an image, a list of images, or nothing.

    An image is a path, or what Parquet files of image data sets hold: its bytes, which are kept as a file.
    Raises :class:`InputError`: AM308 for anything else, AM931 when the file cannot be kept.
    """
    if column is None or row.record.get(column) is None:
        return []
    value: Any = row.record[column]
    if value == "":
        helps = ("write null, or an empty list `[]`, for a row without images",)
        raise InputError(Diagnostic("AM308", f"`{row.place}`: column `{column}` is empty", helps=helps))
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [value]
    value = structure_of(row, column)
    found = [_path(item, row) for item in (value if isinstance(value, list) else [value])]
    if (isinstance(value, str) and found) or None in found:
        message = f"`{row.place}`: column `{column}` must hold an image or its path, or a list of them"
        raise InputError(Diagnostic("AM308", message))
    return [path for path in found if path is not None]


def _path(value: Any, row: Row) -> str | None:
    content = embedded_bytes(value)
    if content is not None:
        return str(kept_as_file(content, row))
    if isinstance(value, Mapping):
        value = value.get("path")
    return value if isinstance(value, str) and value else None


def found_images(row: Row, paths: Sequence[str]) -> list[Path]:
    """Return the files of ``paths``, which are relative to the file that has the row.

    Raises :class:`InputError` (AM371) naming every one that is not there.
    """
    files: list[Path] = []
    problems: list[Diagnostic] = []
    for path in paths:
        try:
            files.append(named_file(row, path))
        except InputError as error:
            problems.extend(error.diagnostics)
    if problems:
        raise InputError(problems)
    return files
