"""The samples of a data set of text as text, with figures over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from automodel_core.data.loader import OrderedLoader
from automodel_core.data.order import GlobalOrder
from automodel_core.data.preview import DataPreview, PreviewSample, Segment, measure_lengths, padding_share
from automodel_core.data.progress import with_progress
from automodel_core.data.row_report import RowReport
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.specs import NOTHING
from automodel_llm.data.cached_dataset import CachedDataset
from automodel_llm.data.prompt_answer import IGNORED, TextSample


def preview_text(loader: OrderedLoader, processor: Any, split: str, rows: int) -> DataPreview:
    """Return the first ``rows`` samples of ``loader``, and what its first epoch's batches are like.

    Raises :class:`InputError` (AM310) when neither the data set nor the run has a tokenizer.
    """
    dataset: Any = loader.dataset
    tokenizer = dataset.tokenizer if isinstance(dataset, CachedDataset) else processor
    if tokenizer is NOTHING:
        raise InputError(Diagnostic("AM310", "there is no tokenizer to write tokens as text with"))
    lengths, learned = _counts(dataset)
    order = GlobalOrder(len(lengths), loader.seed, loader.shuffle)
    return DataPreview(
        split=split,
        samples=tuple(preview_sample(dataset[i], tokenizer, i) for i in range(min(rows, len(lengths)))),
        count=len(lengths),
        tokens=sum(lengths),
        learned=sum(learned),
        batch_size=loader.batch_size,
        padding_share=padding_share(lengths, order.batches(0, loader.batch_size)),
        lengths=measure_lengths(lengths),
        report=_report(dataset),
    )


def preview_sample(sample: TextSample, tokenizer: Any, index: int) -> PreviewSample:
    """Return a sample as text, in segments of tokens that are learned and tokens that are not."""
    flags = [False, *(label != IGNORED for label in sample.labels[:-1])]
    return PreviewSample(index, len(flags), _learned(sample), tuple(_segments(sample.input_ids, flags, tokenizer)))


def _segments(ids: list[int], flags: list[bool], tokenizer: Any) -> Iterator[Segment]:
    for learned, tokens in groupby(zip(ids, flags, strict=True), key=lambda pair: pair[1]):
        run = [token for token, _ in tokens]
        text = tokenizer.decode(run, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        yield Segment(text, learned)


def _learned(sample: TextSample) -> int:
    return sum(label != IGNORED for label in sample.labels)


def _counts(dataset: Any) -> tuple[list[int], list[int]]:
    if isinstance(dataset, CachedDataset):
        lengths, learned = dataset.token_counts()
        return lengths.tolist(), learned.tolist()
    samples = (dataset[i] for i in range(len(dataset)))
    counts = [(len(sample.input_ids), _learned(sample)) for sample in with_progress(samples, "counting tokens")]
    return [length for length, _ in counts], [learned for _, learned in counts]


def _report(dataset: Any) -> RowReport | None:
    return dataset.report if isinstance(dataset, CachedDataset) else None
