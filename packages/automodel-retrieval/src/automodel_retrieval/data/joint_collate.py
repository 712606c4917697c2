"""Micro-batches of a query and a document in one text, for a model that reads both at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import torch

from automodel_core.training.batches import Batch
from automodel_retrieval.data.sample import RetrievalSample


@attrs.frozen
class CrossEncoderCollate:
    """Collate samples for a cross-encoder: every query with its positive and each of its negatives, P pairs.

    ``labels`` (P,) is 1 for a positive; ``group`` (P,) is the query a pair belongs to. Beside them stand the tokens.
    """

    tokenizer: Any
    max_length: int

    def __call__(self, samples: Sequence[RetrievalSample]) -> Batch:
        pairs = [(row, s.query, d.text) for row, s in enumerate(samples) for d in (s.positive, *s.negatives)]
        labels = [float(place == 0) for s in samples for place in range(1 + len(s.negatives))]
        return {
            **self.tokens([(query, text) for _, query, text in pairs]),
            "labels": torch.tensor(labels),
            "group": torch.tensor([row for row, _, _ in pairs]),
        }

    def tokens(self, pairs: Sequence[tuple[str, str]]) -> dict[str, torch.Tensor]:
        """Return the tokens of ``pairs``, the longer text of each cut first."""
        encoded = self.tokenizer(
            [query for query, _ in pairs],
            [text for _, text in pairs],
            padding=True,
            truncation="longest_first",
            max_length=self.max_length,
            return_tensors="pt",
        )
        return dict(encoded)
