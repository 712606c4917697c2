"""Values of a row's columns, with errors that name the row and the column."""

from __future__ import annotations

import json
from typing import Any

from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError


def text_of(row: Row, column: str) -> str:
    """Return the text in ``column``.

    Raises :class:`InputError`: AM309 when the row has no such column, AM308 when it holds anything but text.
    """
    value = value_of(row, column)
    if not isinstance(value, str):
        held = "nothing" if value is None else type(value).__name__
        raise InputError(Diagnostic("AM308", f"`{row.place}`: column `{column}` holds {held}, not text"))
    return checked_text(value, row, column)


def optional_text_of(row: Row, column: str | None) -> str:
    """Return the text in ``column``, empty when the row has none there or when there is no such column to read."""
    if column is None or row.record.get(column) is None:
        return ""
    return text_of(row, column)


def value_of(row: Row, column: str) -> Any:
    """Return whatever is in ``column``. Raises :class:`InputError` (AM309) when the row has no such column."""
    if column not in row.record:
        found = ", ".join(f"`{name}`" for name in row.record) or "none"
        helps = (
            *did_you_mean(column, list(row.record)),
            f"the row has the columns {found}; say in the section of the data which one it is",
        )
        raise InputError(Diagnostic("AM309", f"`{row.place}`: there is no column `{column}`", helps=helps))
    return row.record[column]


def structure_of(row: Row, column: str) -> Any:
    """Return what is in ``column``, read as JSON where it is text: a CSV cell has no other way to hold a list."""
    value = value_of(row, column)
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        message = f"`{row.place}`: column `{column}` holds text that is not JSON: {error.msg} at column {error.colno}"
        raise InputError(Diagnostic("AM308", message)) from None


def checked_text(text: str, row: Row, column: str) -> str:
    """Return ``text``. Raises :class:`InputError` (AM308) when it has half of a surrogate pair and no encoding."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"`{row.place}`: column `{column}` has a lone surrogate at character {error.start}, not a character"
        raise InputError(Diagnostic("AM308", message)) from None
    return text
