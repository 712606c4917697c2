"""How well a bi-encoder finds the documents of held-out queries in a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import torch

from automodel_retrieval.data.collate import Gathered
from automodel_retrieval.data.document import Document
from automodel_retrieval.data.sample import Judged
from automodel_retrieval.evaluation.ranking import ranks_of

_QUERIES_AT_ONCE: Final = 256


def distinct_queries(rows: Sequence[Judged]) -> dict[str, tuple[Document, ...]]:
    """Return every query once, with all documents that answer it."""
    return {row.query: row.known for row in rows}


def relevant_places(queries: dict[str, tuple[Document, ...]], corpus: Sequence[Document]) -> list[list[int]]:
    """Return, for each query, the places in ``corpus`` (which has each document once) of what answers it."""
    gathered = Gathered()
    for document in corpus:
        gathered.place(document)
    return [sorted({gathered.place(document) for document in known}) for known in queries.values()]


def ranks_in_corpus(
    queries_QH: torch.Tensor, corpus_NH: torch.Tensor, relevant: Sequence[Sequence[int]]
) -> Iterator[list[int]]:
    """Yield, for each query, the ranks in the whole corpus of the documents that answer it."""
    for start in range(0, len(queries_QH), _QUERIES_AT_ONCE):
        scores_QN = queries_QH[start : start + _QUERIES_AT_ONCE] @ corpus_NH.T
        for scores_N, places in zip(scores_QN, relevant[start : start + _QUERIES_AT_ONCE], strict=True):
            yield ranks_of(scores_N, places)
