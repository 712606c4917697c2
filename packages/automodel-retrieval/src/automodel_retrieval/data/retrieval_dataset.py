"""Queries with documents that answer them and documents that do not, from rows that hold or name them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from automodel_core.data.column_names import columns_for
from automodel_core.data.fingerprints import digest_of_value
from automodel_core.data.order import seed_of
from automodel_core.data.progress import with_progress
from automodel_core.data.records import Row
from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_retrieval.data.corpus import Corpus
from automodel_retrieval.data.document import Document, Known, without_repeats
from automodel_retrieval.data.judgements import RowReader, TextsById, joined_by_query
from automodel_retrieval.data.known_columns import PAIR_COLUMNS
from automodel_retrieval.data.sample import Judged, RetrievalSample


class RetrievalDataset:
    """Rows with a query, its positives and its negatives, in columns that ``column_mapping`` names.

    A document is a text or, with ``corpus`` (a file of texts with ids, columns in ``corpus_columns``), an id; with
    ``queries`` the queries are ids too. In each epoch a row gives one of its positives, ``negatives_per_query`` of its
    negatives (null: all), and ``random_negatives`` documents of the corpus besides: drawn from (seed, epoch, row).
    """

    def __init__(
        self,
        path: str | Sequence[str],
        column_mapping: Mapping[str, str | None] | None = None,
        corpus: str | Sequence[str] | None = None,
        corpus_columns: Mapping[str, str | None] | None = None,
        queries: str | Sequence[str] | None = None,
        split: str = "train",
        negatives_per_query: int | None = None,
        random_negatives: int = 0,
        validation_fraction: float | None = None,
        split_seed: int = 0,
        seed: int = 0,
        limit: int | None = None,
    ) -> None:
        for name, count in (("negatives_per_query", negatives_per_query), ("random_negatives", random_negatives)):
            if count is not None and count < 0:
                raise InputError(Diagnostic("AM306", f"`{name}` must be 0 or more, it is {count}"))
        self.corpus = None if corpus is None else Corpus(corpus, corpus_columns)
        self.negatives_per_query = negatives_per_query
        self.random_negatives = random_negatives
        self.seed = seed
        names = _query_columns(column_mapping)
        same_query = lambda row: next((row.record[n] for n in names if n in row.record), row.record)  # noqa: E731
        rows = RowSource(path, split, validation_fraction, split_seed, limit, sameness=same_query).open()
        reader: RowReader | None = None
        judged: list[Judged] = []
        texts = TextsById()
        for row in with_progress(rows, f"reading {rows.name}"):
            if reader is None:
                reader = self._reader(row, column_mapping, queries)
            judged.append(reader.read(row))
            texts.check(row, judged[-1])
        if not judged:
            raise InputError(Diagnostic("AM318", f"`{rows.name}` has no row for the split `{split}`"))
        self.rows = joined_by_query(judged)
        parts = [rows.fingerprint(), None if self.corpus is None else self.corpus.fingerprint]
        known = parts[0] is not None and (self.corpus is None or parts[1] is not None)
        self.fingerprint = digest_of_value(parts) if known else None

    def _reader(self, row: Row, mapping: Mapping[str, str | None] | None, queries: Any) -> RowReader:
        columns = columns_for(row, mapping, PAIR_COLUMNS, ("negatives",))
        return RowReader(columns, self.corpus, None if queries is None else Corpus(queries))

    @cached_property
    def documents(self) -> list[Document]:
        """The corpus and every document that a row holds, each document once."""
        corpus = [] if self.corpus is None else list(self.corpus)
        return without_repeats([*corpus, *(d for row in self.rows for d in (*row.positives, *row.negatives))])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> RetrievalSample:
        return self.at(index, 0)

    def at(self, index: int, epoch: int) -> RetrievalSample:
        """Return row ``index`` as it is in ``epoch``."""
        row = self.rows[index]
        draw = random.Random(seed_of("retrieval", self.seed, epoch, index))
        positive = row.positives[draw.randrange(len(row.positives))]
        negatives = list(row.negatives)
        if self.negatives_per_query is not None and self.negatives_per_query < len(negatives):
            negatives = draw.sample(negatives, self.negatives_per_query)
        return RetrievalSample(row.query, positive, (*negatives, *self._random(draw, row, negatives)), row.known)

    def _random(self, draw: random.Random, row: Judged, negatives: list[Document]) -> list[Document]:
        """Return documents that are neither known positives nor negatives already; fewer where there are no more."""
        if not self.random_negatives:
            return []
        not_these = [*row.known, *negatives]
        taken = Known(not_these)
        # A document of these is the same as at most two of the corpus: one by its text, one by its id.
        enough = min(self.random_negatives + 2 * len(not_these), len(self.documents))
        drawn = (self.documents[place] for place in draw.sample(range(len(self.documents)), enough))
        return [document for document in drawn if document not in taken][: self.random_negatives]


def _query_columns(mapping: Mapping[str, str | None] | None) -> tuple[str, ...]:
    mapped = None if mapping is None else mapping.get("query")
    return tuple(PAIR_COLUMNS["query"]) if mapped is None else (mapped,)
