"""Micro-batches of text samples, padded on the right to the longest."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import torch

from automodel_core.training.batches import Batch
from automodel_llm.data.prompt_answer import IGNORED, TextSample


@attrs.frozen
class PaddedCollate:
    """Collate :class:`TextSample` into ``input_ids`` and ``labels`` of shape (batch, longest).

    ``attention_mask`` is there only when some row is padded. What is supervised is known from the labels alone, so the
    padding id may be the end token's.
    """

    pad_token_id: int = 0

    def __call__(self, samples: Sequence[TextSample]) -> Batch:
        lengths = [len(s.input_ids) for s in samples]
        shape = (len(samples), max(lengths))
        input_ids = torch.full(shape, self.pad_token_id, dtype=torch.long)
        labels = torch.full(shape, IGNORED, dtype=torch.long)
        for row, sample in enumerate(samples):
            input_ids[row, : lengths[row]] = torch.tensor(sample.input_ids)
            labels[row, : lengths[row]] = torch.tensor(sample.labels)
        batch = {"input_ids": input_ids, "labels": labels}
        if min(lengths) < max(lengths):
            positions = torch.arange(shape[1])
            batch["attention_mask"] = (positions < torch.tensor(lengths)[:, None]).long()
        return batch
