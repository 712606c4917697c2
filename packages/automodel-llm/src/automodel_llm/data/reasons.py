"""Why a row gives no sample. Each follows a number of rows in a message."""

from __future__ import annotations

from typing import Final

NO_ANSWER: Final = "without an answer"
NO_ASSISTANT: Final = "without anything that the assistant says"
NO_ROOM: Final = "with a prompt that leaves no room for an answer in `max_seq_length`"
NO_TEXT: Final = "without text"
