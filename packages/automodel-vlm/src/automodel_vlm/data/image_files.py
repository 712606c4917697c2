"""Image files that rows name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from automodel_core.data.columns import structure_of
from automodel_core.data.image_files import named_file
from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def image_paths(row: Row, column: str | None) -> list[str]:
    """Return what ``column`` names: a path, a list of paths, or nothing. Raises :class:`InputError` (AM308)."""
    if column is None or row.record.get(column) is None:
        return []
    value: Any = row.record[column]
    if value == "":
        helps = ("write null, or an empty list `[]`, for a row without images",)
        raise InputError(Diagnostic("AM308", f"`{row.place}`: column `{column}` is empty", helps=helps))
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
