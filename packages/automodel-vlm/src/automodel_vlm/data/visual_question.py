"""One question about one or more images in each row, and its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from automodel_core.data.columns import optional_text_of, text_of, value_of
from automodel_core.data.records import Row
from automodel_core.data.row_source import RowSource
from automodel_llm.data.chat.conversation import conversation_of
from automodel_vlm.data.image_files import image_paths
from automodel_vlm.data.visual_dataset import VisualDataset, VisualRow
from automodel_vlm.data.visual_messages import PLACEHOLDER, with_parts


class VisualQuestionDataset(VisualDataset):
    """Rows with an ``image`` (a path, or a list of paths), a ``question`` and an ``answer``, in columns of these names.

    Images come before the question, unless it says ``<image>`` where they belong. ``docs/data.md`` says what ``path``,
    ``split`` and the rest mean.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        processor: Any,
        image: str = "image",
        question: str = "question",
        answer: str = "answer",
        system: str | None = None,
        split: str = "train",
        max_seq_length: int = 2048,
        validation_fraction: float | None = None,
        split_seed: int = 0,
        limit: int | None = None,
        cache: bool = True,
    ) -> None:
        self.columns = {"image": image, "question": question, "answer": answer, "system": system}
        rows = RowSource(path, split, validation_fraction, split_seed, limit).open()
        super().__init__(rows, processor, max_seq_length, cache=cache)

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "columns": self.columns}

    def visual_row(self, row: Row) -> VisualRow:
        names = self.columns
        value_of(row, str(names["image"]))  # a column that is not there is an error, an empty one a row without images
        value_of(row, str(names["answer"]))
        paths = image_paths(row, names["image"])
        question = text_of(row, str(names["question"]))
        if PLACEHOLDER not in question:
            question = PLACEHOLDER * len(paths) + question
        system = optional_text_of(row, names["system"])
        messages = [
            *([with_parts("system", system)] if system else []),
            with_parts("user", question),
            {"role": "assistant", "content": [{"type": "text", "text": optional_text_of(row, names["answer"])}]},
        ]
        places = question.count(PLACEHOLDER)
        return VisualRow(conversation_of(row.place, messages, (), last_only=False), tuple(paths), places)


class MedPixDataset(VisualQuestionDataset):
    """MedPix-VQA: radiology images in the column ``image_id``, with a ``question`` and its ``answer``."""

    def __init__(
        self,
        processor: Any,
        path: str | Sequence[str] = "mmoukouba/MedPix-VQA",
        image: str = "image_id",
        split: str = "train",
        max_seq_length: int = 2048,
        validation_fraction: float | None = None,
        split_seed: int = 0,
        limit: int | None = None,
        cache: bool = True,
    ) -> None:
        super().__init__(
            path,
            processor,
            image,
            split=split,
            max_seq_length=max_seq_length,
            validation_fraction=validation_fraction,
            split_seed=split_seed,
            limit=limit,
            cache=cache,
        )
