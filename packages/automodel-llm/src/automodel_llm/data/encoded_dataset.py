"""Data sets in which every row is a sample, or a few, encoded apart from the others."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter

from automodel_core.data.array_cache import Arrays
from automodel_core.data.progress import with_progress
from automodel_core.data.records import Row
from automodel_core.data.row_report import RowReport
from automodel_core.data.row_source import Rows
from automodel_llm.data.cached_dataset import CachedDataset, Counts
from automodel_llm.data.encoded import Encoded
from automodel_llm.data.prompt_answer import TextSample
from automodel_llm.data.token_arrays import TokenArraysBuilder, sample_at, sample_counts

Samples = list[Encoded] | str
"""The samples of a row, or why it has none: words that follow a number of rows, such as ``without an answer``."""


class EncodedDataset(CachedDataset):
    """Samples of the rows of one split, encoded by :meth:`encode_row`. Rows that give none are counted by reason."""

    @abstractmethod
    def encode_row(self, row: Row) -> Samples:
        """Return the samples of a row, or why it has none."""

    def encode_rows(self, rows: Rows) -> tuple[Arrays, RowReport]:
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
        return builder.arrays(), report

    def sample(self, arrays: Arrays, index: int) -> TextSample:
        return sample_at(arrays, index)

    def count_tokens(self, arrays: Arrays) -> tuple[Counts, Counts]:
        return sample_counts(arrays)
