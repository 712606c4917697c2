"""Data sets whose rows are encoded once, in one pass, and kept in the cache."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

import automodel_core.data
from automodel_core.data.array_cache import ArrayCache, CachedArrays
from automodel_core.data.cache_directory import cache_directory
from automodel_core.data.fingerprints import digest_of_code, digest_of_value
from automodel_core.data.progress import with_progress
from automodel_core.data.records import Row
from automodel_core.data.row_report import RowReport
from automodel_core.data.row_source import Rows
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.encoded import Encoded
from automodel_llm.data.prompt_answer import TextSample
from automodel_llm.data.token_arrays import TokenArraysBuilder, sample_at, sample_lengths
from automodel_llm.data.tokenizer import tokenizer_fingerprint

Samples = list[Encoded] | str
"""The samples of a row, or why it has none: words that follow a number of rows, such as ``without an answer``."""

_CODE: Final = (Path(__file__).parent, Path(automodel_core.data.__file__).parent)


class EncodedDataset(ABC):
    """Samples of the rows of one split, encoded by :meth:`encode_row`.

    Rows that give no sample are counted by reason in ``report``, and a warning says so. ``reused`` tells whether the
    samples came from the cache. An entry of the cache is found again as long as nothing changes that it depends on:
    the data, the split, the tokenizer, :meth:`settings` and the code.
    """

    def __init__(self, rows: Rows, tokenizer: Any, max_seq_length: int, *, cache: bool = True) -> None:
        if max_seq_length < 2:
            raise InputError(Diagnostic("AM306", f"`max_seq_length` must be at least 2, it is {max_seq_length}"))
        self.tokenizer = tokenizer
        self.max_seq_length = max_seq_length
        self._samples = self._encoded(rows, cache)
        self.report = RowReport.from_data(self._samples.about)
        self.reused = self._samples.reused
        self.report.tell()

    @abstractmethod
    def encode_row(self, row: Row) -> Samples:
        """Return the samples of a row, or why it has none."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return what :meth:`encode_row` depends on, besides the tokenizer and ``max_seq_length``, as plain data."""

    def __len__(self) -> int:
        return self.report.samples

    def __getitem__(self, index: int) -> TextSample:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return sample_at(self._samples.arrays, index)

    def lengths(self) -> np.ndarray[Any, Any]:
        """Return the number of tokens of every sample."""
        return sample_lengths(self._samples.arrays)

    def _encoded(self, rows: Rows, cache: bool) -> CachedArrays:
        data = rows.fingerprint()
        if not cache or data is None:
            return self._encode(rows)
        key = digest_of_value(
            {
                "data": data,
                "tokenizer": tokenizer_fingerprint(self.tokenizer),
                "max_seq_length": self.max_seq_length,
                "kind": type(self).__qualname__,
                "settings": self.settings(),
                "code": digest_of_code(*_CODE),
            }
        )
        return ArrayCache(cache_directory() / "tokens").get(key[:40], lambda: self._encode(rows))

    def _encode(self, rows: Rows) -> CachedArrays:
        builder = TokenArraysBuilder()
        dropped: Counter[str] = Counter()
        truncated = 0
        for row in with_progress(rows, f"encoding {rows.name}"):
            samples = self.encode_row(row)
            if isinstance(samples, str):
                dropped[samples] += 1
                continue
            builder.extend(samples)
            truncated += sum(sample.truncated for sample in samples)
        report = RowReport(rows.name, rows.read, len(builder), rows.other_split, truncated, dict(dropped))
        if not len(builder):
            raise InputError(_nothing_left(report, rows.source.split))
        return CachedArrays(builder.arrays(), report.to_data())


def _nothing_left(report: RowReport, split: str) -> Diagnostic:
    if not report.read:
        helps: Sequence[str] = (
            f"all {report.other_split} rows are in another split: name a file for this one, or set "
            "`validation_fraction` to more than 0",
        )
        return Diagnostic("AM303", f"`{report.source}` has no row in split `{split}`", helps=tuple(helps))
    reasons = ", ".join(f"{count} {reason}" for reason, count in report.dropped.items())
    return Diagnostic("AM318", f"`{report.source}`: nothing can be learned from any of {report.read} rows: {reasons}")
