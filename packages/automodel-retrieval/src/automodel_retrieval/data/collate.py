"""Micro-batches of queries and documents, each document once, and which are positives of which query."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import torch

from automodel_core.training.batches import Batch
from automodel_retrieval.data.document import Document, Key
from automodel_retrieval.data.sample import RetrievalSample
from automodel_retrieval.data.tokens import SideTokens


@attrs.frozen
class BiEncoderCollate:
    """Collate samples for a bi-encoder. With Q queries, D documents and at most K known positives of a query:

    ``query`` and ``document`` are tokens; ``positive`` (Q,) is the place of each query's positive among the documents;
    ``given`` (Q, D) marks its own positive and negatives; ``document_keys`` (D, 2) and ``known_keys`` (Q, K, 2) say
    which documents are the same, also of other processes.
    """

    query: SideTokens
    document: SideTokens

    def __call__(self, samples: Sequence[RetrievalSample]) -> Batch:
        documents = Gathered()
        positive = [documents.place(sample.positive) for sample in samples]
        negatives = [[documents.place(document) for document in sample.negatives] for sample in samples]
        given = torch.zeros(len(samples), len(documents.documents), dtype=torch.bool)
        for row, places in enumerate(negatives):
            given[row, [positive[row], *places]] = True
        return {
            "query": self.query([sample.query for sample in samples]),
            "document": self.document([document.text for document in documents.documents]),
            "positive": torch.tensor(positive),
            "given": given,
            "document_keys": torch.tensor([document.key() for document in documents.documents]),
            "known_keys": known_keys(samples),
        }


class Gathered:
    """Documents in the order in which they first come; one that is the same as another has the other's place."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self._texts: dict[int, int] = {}
        self._ids: dict[int, int] = {}

    def place(self, document: Document) -> int:
        """Return the place of ``document``, which is added when it is new."""
        text, identity = document.key()
        found = self._texts.get(text, self._ids.get(identity))
        if found is None:
            found = len(self.documents)
            self.documents.append(document)
        self._texts.setdefault(text, found)
        self._ids.setdefault(identity, found)
        return found


def known_keys(samples: Sequence[RetrievalSample]) -> torch.Tensor:
    """Return the keys of what is never a negative, (Q, K, 2): rows with fewer repeat their last."""
    rows: list[list[Key]] = [[d.key() for d in (sample.positive, *sample.known)] for sample in samples]
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[row[-1]] * (longest - len(row))] for row in rows])
