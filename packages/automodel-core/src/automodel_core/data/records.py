"""Reading records (rows of named values) from files, one by one, with errors that name the file and the row."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

Record = dict[str, Any]

_LARGEST_FIELD: Final = 2**31 - 1
"""Of a CSV file: the module's own limit of 128 KiB is less than a long document."""


@attrs.frozen
class Row:
    """A record and where it stands: ``data.jsonl:3``, or ``data.csv, row 2`` (the first is row 0).

    ``directory`` is that of the file: what a path in the record is relative to.
    """

    place: str
    record: Record
    directory: Path = Path()


def read_records(path: Path) -> list[Record]:
    """Return the rows of a ``.jsonl``, ``.json`` (a list of objects), ``.csv`` or ``.parquet`` file.

    Raises :class:`InputError` when the file is missing, empty, of another kind, or has a row that cannot be read.
    """
    return [row.record for row in iterate_rows([path])]


def iterate_rows(paths: Iterable[Path]) -> Iterator[Row]:
    """Yield the rows of every file in turn. Only a ``.json`` file is in memory as a whole.

    Raises :class:`InputError` as :func:`read_records` does.
    """
    for path in paths:
        empty = True
        for row in _guarded(_reader(path), path):
            empty = False
            yield attrs.evolve(row, directory=path.parent)
        if empty:
            raise InputError(Diagnostic("AM303", f"`{path}` has no rows"))


def _reader(path: Path) -> Callable[[Path], Iterator[Row]]:
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        kinds = ", ".join(f"`{suffix}`" for suffix in _READERS)
        raise InputError(Diagnostic("AM302", f"`{path}` is not a kind of data file that can be read: {kinds}"))
    return reader


def _guarded(reader: Callable[[Path], Iterator[Row]], path: Path) -> Iterator[Row]:
    try:
        yield from reader(path)
    except OSError as error:
        raise InputError(Diagnostic("AM301", f"`{path}` cannot be read: {error.strerror or error}")) from None
    except UnicodeDecodeError as error:
        raise InputError(
            Diagnostic(
                "AM304",
                f"`{path}` is not UTF-8 text: {error.reason} at byte {error.start}",
                helps=("save the file again as UTF-8",),
            )
        ) from None


def _json_lines(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                place = f"{path}:{number}"
                yield Row(place, _object(_parse(line, place, number), place))


def _json(path: Path) -> Iterator[Row]:
    value = _parse(path.read_text(encoding="utf-8-sig"), str(path))
    if not isinstance(value, list):
        raise InputError(Diagnostic("AM304", f"`{path}` holds a JSON {type(value).__name__}, not a list of objects"))
    for number, row in enumerate(value):
        place = f"{path}, row {number}"
        yield Row(place, _object(row, place))


def _csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(_LARGEST_FIELD)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            _check_header(path, reader.fieldnames or ())
            for number, record in enumerate(reader):
                place = f"{path}, row {number}"
                if None in record:
                    message = f"`{place}` has {len(record) - 1 + len(record[None])} fields, and the header has "
                    raise InputError(Diagnostic("AM304", message + str(len(record) - 1)))
                yield Row(place, record)
        except csv.Error as error:
            message = f"`{path}` is not CSV: {error} at line {reader.line_num}"
            raise InputError(Diagnostic("AM304", message)) from None


def _check_header(path: Path, names: Sequence[str]) -> None:
    """Raise :class:`InputError` (AM304) for a name that stands twice, or names that something else separates."""
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        raise InputError(Diagnostic("AM304", f"`{path}` has the column `{twice}` twice"))
    if len(names) == 1:
        other = next((mark for mark in (";", "\t", "|") if mark in names[0]), None)
        if other is not None:
            shown = "tabs" if other == "\t" else f"`{other}`"
            helps = ("write it again with commas between the fields",)
            message = f"`{path}` has {shown} between its fields, where CSV has commas"
            raise InputError(Diagnostic("AM304", message, helps=helps))


def _parquet(path: Path) -> Iterator[Row]:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        message = f"reading `{path}` needs pyarrow, which is not installed"
        raise InputError(Diagnostic("AM305", message, helps=("pip install pyarrow",))) from None
    path.open("rb").close()  # a missing file is an OSError here and an error of another kind in pyarrow
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                for record in batch.to_pylist():
                    yield Row(f"{path}, row {number}", record)
                    number += 1
    except ArrowInvalid as error:
        raise InputError(Diagnostic("AM304", f"`{path}` is not a Parquet file: {error}")) from None


def _parse(text: str, place: str, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        # Every line of a JSONL file is a text of its own, in which the error is on line 1.
        at = f"column {error.colno}" if line is not None else f"line {error.lineno}, column {error.colno}"
        reason = error.msg.removesuffix(" at")
        helps = ("mend the line, or remove it: each line is one JSON object" if line is not None else "mend the file",)
        raise InputError(Diagnostic("AM304", f"`{place}` is not JSON: {reason} at {at}", helps=helps)) from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(Diagnostic("AM304", f"`{place}` cannot be read: {error}")) from None
    except RecursionError:
        raise InputError(Diagnostic("AM304", f"`{place}` is nested too deeply")) from None


def _object(value: Any, place: str) -> Record:
    if not isinstance(value, dict):
        raise InputError(Diagnostic("AM304", f"`{place}` holds a JSON {type(value).__name__}, not an object"))
    return value


_READERS: Final[dict[str, Callable[[Path], Iterator[Row]]]] = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}

RECORD_SUFFIXES: Final = tuple(_READERS)
"""The endings of files of records."""
