"""Rows of a data set on the Hugging Face hub, through the package ``datasets``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def iterate_hub_rows(name: str, split: str) -> Iterator[Row]:
    """Yield the rows of ``split`` of the data set called ``name``.

    Raises :class:`InputError`: AM305 without ``datasets``, AM301 when the data set cannot be fetched.
    """
    try:
        from datasets import load_dataset
    except ImportError:
        message = f"`{name}` is not a local file, and reading it from the hub needs the package `datasets`"
        helps = ("name a local file in `dataset.path`", "pip install datasets")
        raise InputError(Diagnostic("AM305", message, helps=helps)) from None
    try:
        rows = load_dataset(name, split=split)
    except (OSError, ValueError) as error:
        message = f"`{name}` could not be read from the hub: {error}"
        raise InputError(Diagnostic("AM301", message, helps=("name a local file in `dataset.path`",))) from None
    for number, record in enumerate(_undecoded(rows)):
        yield Row(f"{name}, row {number}", record)


def _undecoded(rows: Any) -> Any:
    """Return rows whose images are bytes, as in files: a domain of images decodes them when it needs them."""
    from datasets import Image

    for name, feature in (rows.features or {}).items():
        if isinstance(feature, Image):
            rows = rows.cast_column(name, Image(decode=False))
    return rows
