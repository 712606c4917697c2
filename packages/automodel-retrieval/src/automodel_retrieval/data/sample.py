"""What a row of retrieval data says, and what one micro-batch takes of it."""

from __future__ import annotations

import attrs

from automodel_retrieval.data.document import Document


@attrs.frozen
class Judged:
    """A query with the documents that answer it, and documents that are given as not answering it.

    ``known`` are all documents that some row says answer this query: none of them is ever a negative of it.
    """

    query: str
    positives: tuple[Document, ...]
    negatives: tuple[Document, ...] = ()
    known: tuple[Document, ...] = ()


@attrs.frozen
class RetrievalSample:
    """A query, one of its positives, the negatives that were drawn for it, and what is never a negative."""

    query: str
    positive: Document
    negatives: tuple[Document, ...]
    known: tuple[Document, ...]
