"""What the columns of data for retrieval are called where a config does not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

PAIR_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "query": ("query", "question", "anchor", "query_id"),
    "positive": ("positive", "positives", "pos_doc", "document", "corpus_id", "answer"),
    "negatives": ("negatives", "negative", "neg_doc", "hard_negatives"),
}
"""What a column of pairs is called where the config does not say, the likeliest first."""

TEXT_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "id": ("id", "_id", "corpus_id", "doc_id", "query_id", "question_id"),
    "text": ("text", "document", "passage", "contents", "query", "question"),
    "title": ("title",),
}
"""The same of a file of texts with ids."""
