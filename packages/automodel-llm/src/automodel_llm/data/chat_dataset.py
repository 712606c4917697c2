"""Conversations: messages in a column, rendered by a chat template, the assistant's turns learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from automodel_core.adapters.tokenizer import load_tokenizer
from automodel_core.data.records import Row
from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.chat.conversation import conversation_of
from automodel_llm.data.chat.fitting import fit_conversation
from automodel_llm.data.chat.reading import messages_of, tools_of
from automodel_llm.data.chat.template import ChatTemplate, open_template
from automodel_llm.data.encoded_dataset import EncodedDataset, Samples
from automodel_llm.data.reasons import NO_ASSISTANT, NO_ROOM

TrainOn = Literal["all_assistant", "last_assistant"]


class ChatDataset(EncodedDataset):
    """Conversations from the column ``messages`` (or another), with ``tools`` where a row has them.

    What the assistant says and the token that ends its turn are learned, in every turn or in the last
    (``train_on``); what comes before and between is context. ``chat_template`` is a template, or a file with one, in
    place of the tokenizer's. ``docs/data.md`` says what ``path``, ``split`` and the rest mean.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        tokenizer_name_or_path: str,
        messages: str = "messages",
        tools: str | None = "tools",
        split: str = "train",
        max_seq_length: int = 2048,
        train_on: TrainOn = "all_assistant",
        chat_template: str | None = None,
        validation_fraction: float | None = None,
        split_seed: int = 0,
        limit: int | None = None,
        cache: bool = True,
    ) -> None:
        self.messages, self.tools = messages, tools
        self.train_on = check_train_on(train_on)
        tokenizer = load_tokenizer(tokenizer_name_or_path)
        template = open_template(tokenizer, chat_template)
        if template is None:
            raise InputError(no_chat_template(tokenizer_name_or_path))
        self.template: ChatTemplate = template
        rows = RowSource(path, split, validation_fraction, split_seed, limit).open()
        super().__init__(rows, tokenizer, max_seq_length, cache=cache)

    def settings(self) -> dict[str, Any]:
        return {
            "messages": self.messages,
            "tools": self.tools,
            "train_on": self.train_on,
            "chat_template": self.template.own,
        }

    def encode_row(self, row: Row) -> Samples:
        messages, tools = messages_of(row, self.messages), tools_of(row, self.tools)
        conversation = conversation_of(row.place, messages, tools, last_only=self.train_on == "last_assistant")
        if conversation is None:
            return NO_ASSISTANT
        return fit_conversation(self.template, conversation, self.max_seq_length) or NO_ROOM


def check_train_on(value: str) -> TrainOn:
    """Return ``value``. Raises :class:`InputError` (AM306) when it is none of the choices."""
    if value not in ("all_assistant", "last_assistant"):
        message = f"`train_on` must be `all_assistant` or `last_assistant`, it is `{value}`"
        raise InputError(Diagnostic("AM306", message))
    return value  # type: ignore[return-value]


def no_chat_template(tokenizer: str) -> Diagnostic:
    """Return what to say when a template is needed and the tokenizer has none."""
    helps = (
        "name a file with a template in `chat_template`",
        "or use `InstructionDataset`, which does without one, for data with one question and one answer",
    )
    return Diagnostic("AM313", f"the tokenizer `{tokenizer}` has no chat template", helps=helps)
