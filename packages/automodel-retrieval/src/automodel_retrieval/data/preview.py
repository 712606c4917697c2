"""What a retrieval run would train on: queries with their documents as text, and figures over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from automodel_core.data.loader import OrderedLoader
from automodel_core.data.preview import DataPreview, PreviewSample, Segment, measure_lengths
from automodel_core.data.progress import with_progress
from automodel_retrieval.data.sample import RetrievalSample


def preview_pairs(loader: OrderedLoader, tokenizer: Any, split: str, rows: int) -> DataPreview:
    """Return the first ``rows`` samples of ``loader``, and what its first epoch's batches are like.

    The tokens of a sample are those of its texts, prompts included and cut as in a run; "learned" is its positive.
    """
    samples: list[RetrievalSample] = [loader.dataset[index] for index in range(len(loader.dataset))]
    lengths = [_tokens(loader.collate([sample])) for sample in with_progress(samples, "counting tokens")]
    learned = [len(ids) for ids in tokenizer([s.positive.text for s in samples], add_special_tokens=False).input_ids]
    learned = [min(counts) for counts in zip(learned, lengths, strict=True)]
    masks = [mask for batch in loader.batches(0) for mask in _masks(batch)]
    positions = sum(mask.numel() for mask in masks)
    return DataPreview(
        split=split,
        samples=tuple(
            PreviewSample(index, lengths[index], learned[index], tuple(_segments(samples[index])))
            for index in range(min(rows, len(samples)))
        ),
        count=len(samples),
        tokens=sum(lengths),
        learned=sum(learned),
        batch_size=loader.batch_size,
        padding_share=1 - sum(int(mask.sum()) for mask in masks) / positions,
        lengths=measure_lengths(lengths),
    )


def _segments(sample: RetrievalSample) -> Iterator[Segment]:
    yield Segment(f"{sample.query}\n  + ", False)
    yield Segment(sample.positive.text, True)
    for document in sample.negatives:
        yield Segment(f"\n  - {document.text}", False)


def _tokens(batch: Mapping[str, Any]) -> int:
    return sum(int(mask.sum()) for mask in _masks(batch))


def _masks(batch: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    for key, value in batch.items():
        if isinstance(value, Mapping):
            yield from _masks(value)
        elif key == "attention_mask":
            yield value
