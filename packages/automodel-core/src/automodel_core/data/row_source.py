"""The rows of one split, from whatever a config names as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from automodel_core.data.files import SplitFiles, find_files, looks_like_a_hub_id
from automodel_core.data.fingerprints import digest_of_files
from automodel_core.data.hub import iterate_hub_rows
from automodel_core.data.records import RECORD_SUFFIXES, Row, iterate_rows
from automodel_core.data.splits import HoldOut
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def whole_record(row: Row) -> Any:
    """Return all that a row holds: rows are equal when everything in them is."""
    return row.record


@attrs.frozen
class RowSource:
    """What a config says about where rows come from: files, directories, patterns or a hub id, and a split of them.

    ``read`` yields the rows of files; ``sameness`` is what two rows must have in common to stay on the same side of
    the split; ``limit`` keeps the first rows of the split.
    """

    path: str | Sequence[str]
    split: str = "train"
    validation_fraction: float | None = None
    split_seed: int = 0
    limit: int | None = None
    read: Callable[[Iterable[Path]], Iterator[Row]] = iterate_rows
    suffixes: Sequence[str] = RECORD_SUFFIXES
    sameness: Callable[[Row], Any] = whole_record

    def open(self) -> Rows:
        """Return the rows, after finding the files. Raises :class:`InputError` when there is nothing to read."""
        rule = HoldOut.of(self.validation_fraction, self.split_seed)
        if self.limit is not None and self.limit < 1:
            raise InputError(Diagnostic("AM306", f"`limit` must be at least 1, it is {self.limit}"))
        if looks_like_a_hub_id(self.path):
            return Rows(self, rule, None)
        return Rows(self, rule, find_files(self.path, self.split, self.suffixes, self.validation_fraction))


@attrs.define
class Rows:
    """The rows of a split, read anew on each pass; the counts are those of the last pass."""

    source: RowSource
    rule: HoldOut
    files: SplitFiles | None
    read: int = 0
    """Rows of the split that were yielded."""
    other_split: int = 0
    """Rows of the same files that belong to another split."""

    @property
    def name(self) -> str:
        """Return what the data is called in messages."""
        path = self.source.path
        return path if isinstance(path, str) else ", ".join(path)

    def fingerprint(self) -> Any:
        """Return what the rows depend on, as plain data, or ``None`` when that cannot be told from here."""
        if self.files is None:
            return None
        part = None if self.files.whole else [self.source.split, self.rule.fraction, self.rule.seed]
        return [digest_of_files(self.files.files), [f.suffix for f in self.files.files], part, self.source.limit]

    def __iter__(self) -> Iterator[Row]:
        self.read = self.other_split = 0
        for row in self._of_split():
            if self.read == self.source.limit:
                return
            self.read += 1
            yield row

    def _of_split(self) -> Iterator[Row]:
        if self.files is None:
            assert isinstance(self.source.path, str)
            yield from iterate_hub_rows(self.source.path, self.source.split)
        elif self.files.whole:
            yield from self.source.read(self.files.files)
        else:
            yield from self._held_apart(self.files.files)

    def _held_apart(self, files: Sequence[Path]) -> Iterator[Row]:
        """Yield the rows of the split in a second pass: which they are is known after the first."""
        keys = [self.rule.key(self.source.sameness(row)) for row in self.source.read(files)]
        chosen = self.rule.rows(self.source.split, keys)
        self.other_split = len(keys) - len(chosen)
        wanted = iter(chosen)
        following = next(wanted, None)
        for number, row in enumerate(self.source.read(files)):
            if following is None:
                return
            if number == following:
                yield row
                following = next(wanted, None)
