"""Reading records (rows of named values) from files, with errors that name the file and the row."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

Record = dict[str, Any]


def read_records(path: Path) -> list[Record]:
    """Return the rows of a ``.jsonl``, ``.json`` (a list of objects), ``.csv`` or ``.parquet`` file.

    Raises :class:`InputError` when the file is missing, empty, of another kind, or has a row that cannot be read.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        kinds = ", ".join(f"`{suffix}`" for suffix in _READERS)
        raise InputError(Diagnostic("AM302", f"`{path}` is not a kind of data file that can be read: {kinds}"))
    rows = list(_guarded(reader, path))
    if not rows:
        raise InputError(Diagnostic("AM303", f"`{path}` has no rows"))
    return rows


def _guarded(reader: Callable[[Path], Iterator[Record]], path: Path) -> Iterator[Record]:
    try:
        yield from reader(path)
    except OSError as error:
        raise InputError(Diagnostic("AM301", f"`{path}` cannot be read: {error.strerror or error}")) from None
    except UnicodeDecodeError as error:
        raise InputError(
            Diagnostic("AM304", f"`{path}` is not UTF-8 text: {error.reason} at byte {error.start}")
        ) from None


def _json_lines(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _object(_parse(line, f"{path}:{number}", number), f"{path}:{number}")


def _json(path: Path) -> Iterator[Record]:
    value = _parse(path.read_text(encoding="utf-8"), str(path))
    if not isinstance(value, list):
        raise InputError(Diagnostic("AM304", f"`{path}` holds a JSON {type(value).__name__}, not a list of objects"))
    for number, row in enumerate(value):
        yield _object(row, f"{path}, row {number}")


def _csv(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _parquet(path: Path) -> Iterator[Record]:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        message = f"reading `{path}` needs pyarrow, which is not installed"
        raise InputError(Diagnostic("AM305", message, helps=("pip install pyarrow",))) from None
    path.open("rb").close()  # a missing file is an OSError here and an error of another kind in pyarrow
    try:
        yield from parquet.read_table(path).to_pylist()
    except ArrowInvalid as error:
        raise InputError(Diagnostic("AM304", f"`{path}` is not a Parquet file: {error}")) from None


def _parse(text: str, place: str, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = (
            f"column {error.colno}" if line == 1 and error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        )
        raise InputError(Diagnostic("AM304", f"`{place}` is not JSON: {error.msg} at {at}")) from None


def _object(value: Any, place: str) -> Record:
    if not isinstance(value, dict):
        raise InputError(Diagnostic("AM304", f"`{place}` holds a JSON {type(value).__name__}, not an object"))
    return value


_READERS: Final[dict[str, Callable[[Path], Iterator[Record]]]] = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}
