"""Data sets whose tokens are made in one pass over the rows and kept in the cache."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Final

import numpy as np

import automodel_core.data
from automodel_core.adapters.tokenizer import tokenizer_fingerprint
from automodel_core.cache import cache_directory
from automodel_core.data.array_cache import ArrayCache, Arrays, CachedArrays
from automodel_core.data.fingerprints import digest_of_code, digest_of_value
from automodel_core.data.row_report import RowReport
from automodel_core.data.row_source import Rows
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.prompt_answer import TextSample

Counts = np.ndarray[Any, Any]

_CODE: Final = (Path(__file__).parent, Path(automodel_core.data.__file__).parent)
_KEY_LENGTH: Final = 40


class CachedDataset(ABC):
    """Samples that lie in arrays. ``reused`` tells whether these came from the cache.

    ``report`` counts the rows, and those that were left out by reason; a warning says so. An entry of the cache is
    found again as long as nothing changes that it depends on: the data, the split, the tokenizer, ``max_seq_length``,
    :meth:`settings` and the code. Where the run writes is no part of that.
    """

    fingerprint: str | None
    """Digest of the rows that the samples are made of, by which a resumed run knows its data again."""

    def __init__(self, rows: Rows, tokenizer: Any, max_seq_length: int, *, cache: bool = True) -> None:
        if max_seq_length < 2:
            raise InputError(Diagnostic("AM306", f"`max_seq_length` must be at least 2, it is {max_seq_length}"))
        self.tokenizer = tokenizer
        self.max_seq_length = max_seq_length
        self._cached = self._made(rows, cache)
        self.report = RowReport.from_data(self._cached.about)
        self.reused = self._cached.reused
        self.report.tell()

    @abstractmethod
    def encode_rows(self, rows: Rows) -> tuple[Arrays, RowReport]:
        """Return the arrays of the samples, and what became of the rows."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return what :meth:`encode_rows` depends on besides the tokenizer and ``max_seq_length``, as plain data."""

    @abstractmethod
    def sample(self, arrays: Arrays, index: int) -> TextSample:
        """Return a sample."""

    @abstractmethod
    def count_tokens(self, arrays: Arrays) -> tuple[Counts, Counts]:
        """Return, for every sample, how many tokens it has and how many of them are learned."""

    def __len__(self) -> int:
        return self.report.samples

    def __getitem__(self, index: int) -> TextSample:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.sample(self._cached.arrays, index)

    def token_counts(self) -> tuple[Counts, Counts]:
        """Return, for every sample, how many tokens it has and how many of them are learned."""
        return self.count_tokens(self._cached.arrays)

    def _made(self, rows: Rows, cache: bool) -> CachedArrays:
        data = rows.fingerprint()
        self.fingerprint = None if data is None else digest_of_value(data)
        if not cache or data is None:
            return self._encode(rows)
        key = digest_of_value(
            {
                "data": data,
                "tokenizer": tokenizer_fingerprint(self.tokenizer),
                "max_seq_length": self.max_seq_length,
                "kind": f"{type(self).__module__}.{type(self).__qualname__}",
                "settings": self.settings(),
                "code": digest_of_code(*_CODE),
            }
        )
        return ArrayCache(cache_directory() / "tokens").get(key[:_KEY_LENGTH], lambda: self._encode(rows))

    def _encode(self, rows: Rows) -> CachedArrays:
        arrays, report = self.encode_rows(rows)
        if not report.samples:
            raise InputError(_nothing_left(report, rows.source.split))
        return CachedArrays(arrays, report.to_data())


def _nothing_left(report: RowReport, split: str) -> Diagnostic:
    if not report.read:
        helps = (
            f"the other split has all {report.other_split} rows: name a file for this one, or set "
            "`validation_fraction` to more than 0",
        )
        return Diagnostic("AM303", f"`{report.source}` has no row in split `{split}`", helps=helps)
    reasons = ", ".join(f"{count} {reason}" for reason, count in report.dropped.items())
    return Diagnostic("AM318", f"`{report.source}`: nothing can be learned from any of {report.read} rows: {reasons}")
