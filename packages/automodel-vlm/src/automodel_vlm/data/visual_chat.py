"""Conversations with images in a column of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from automodel_core.data.records import Row
from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.chat.conversation import conversation_of
from automodel_llm.data.chat_dataset import TrainOn, check_train_on
from automodel_vlm.data.image_files import image_paths
from automodel_vlm.data.visual_dataset import VisualDataset, VisualRow
from automodel_vlm.data.visual_messages import visual_messages_of


class VisualChatDataset(VisualDataset):
    """Conversations from the column ``messages``, with the files that its parts or the column ``images`` name.

    ``docs/vlm.md`` shows the forms of a row; ``docs/data.md`` says what ``path``, ``split`` and the rest mean.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        processor: Any,
        messages: str = "messages",
        images: str | None = "images",
        split: str = "train",
        max_seq_length: int = 2048,
        train_on: TrainOn = "all_assistant",
        validation_fraction: float | None = None,
        split_seed: int = 0,
        limit: int | None = None,
        cache: bool = True,
    ) -> None:
        self.messages, self.images = messages, images
        self.train_on = check_train_on(train_on)
        rows = RowSource(path, split, validation_fraction, split_seed, limit).open()
        super().__init__(rows, processor, max_seq_length, cache=cache)

    def settings(self) -> dict[str, Any]:
        columns = {"messages": self.messages, "images": self.images, "train_on": self.train_on}
        return {**super().settings(), **columns}

    def visual_row(self, row: Row) -> VisualRow:
        found = visual_messages_of(row, self.messages)
        listed = image_paths(row, self.images)
        if found.paths and listed:
            message = f"`{row.place}`: parts of the conversation name images, and so does column `{self.images}`"
            helps = ("name each image in one of the two; `images: null` leaves the column alone",)
            raise InputError(Diagnostic("AM373", message, helps=helps))
        paths = found.paths or listed
        last_only = self.train_on == "last_assistant"
        conversation = conversation_of(row.place, found.messages, (), last_only=last_only)
        return VisualRow(conversation, tuple(paths), found.places)
