"""Micro-batches of text with images: placeholders become the tokens of their images, rows are padded on the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from automodel_core.data.image_files import read_image
from automodel_core.training.batches import Batch
from automodel_llm.data.collate import PaddedCollate
from automodel_llm.data.prompt_answer import IGNORED, TextSample
from automodel_vlm.data.visual_dataset import VisualSample
from automodel_vlm.processing import image_token_id, see


@attrs.frozen(eq=False)
class VisualCollate:
    """Collate :class:`VisualSample` into ``input_ids`` and ``labels`` (batch, longest) and what the model sees.

    All images of the batch are processed in one call, in the order of their places, whatever their number and sizes.
    """

    processor: Any
    pad_token_id: int = 0

    def __call__(self, samples: Sequence[VisualSample]) -> Batch:
        images = [read_image(file, "RGB", "") for sample in samples for file in sample.images]
        seen = see(self.processor, images)
        tokens = iter(seen.tokens)
        placeholder = image_token_id(self.processor)
        batch = PaddedCollate(self.pad_token_id)([with_image_tokens(s, placeholder, tokens) for s in samples])
        return {**batch, **seen.inputs}


def with_image_tokens(sample: TextSample, placeholder: int, tokens: Iterator[list[int]]) -> TextSample:
    """Return ``sample`` with each placeholder replaced by the next of ``tokens``.

    The label of a placeholder belongs to what follows the image, so it moves to the image's last token.
    """
    ids: list[int] = []
    labels: list[int] = []
    for token, label in zip(sample.input_ids, sample.labels, strict=True):
        image = next(tokens) if token == placeholder else [token]
        ids += image
        labels += [*[IGNORED] * (len(image) - 1), label]
    return TextSample(ids, labels)
