"""From a row of data to messages with a role and a content, with errors that name the row and the message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from automodel_core.data.columns import checked_text, structure_of
from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.chat.conversation import Message

_SPOKEN_NAMES: Final = {"human": "user", "gpt": "assistant", "bot": "assistant", "chatgpt": "assistant"}
"""Roles in the ShareGPT form, ``{from, value}``, as templates know them."""


def messages_of(row: Row, column: str) -> list[Message]:
    """Return the messages in ``column``: a list of ``{role, content, …}``, or of ``{from, value}``.

    Content may be a list of text parts, which are joined. Keys whose value is null are left out, as files with fixed
    columns have them everywhere; other keys reach the template as they are.

    Raises:
        InputError: AM308 or AM309 for the column, AM312 for a message.
    """
    value = structure_of(row, column)
    if not isinstance(value, list):
        held = "nothing" if value is None else type(value).__name__
        message = f"`{row.place}`: column `{column}` holds {held}, not a list of messages"
        raise InputError(Diagnostic("AM308", message))
    return [_message(item, row, column, number) for number, item in enumerate(value)]


def tools_of(row: Row, column: str | None) -> list[Any]:
    """Return the descriptions of tools in ``column``, none when the row has none there."""
    if column is None or row.record.get(column) is None:
        return []
    value = structure_of(row, column)
    if not isinstance(value, list):
        message = f"`{row.place}`: column `{column}` holds {type(value).__name__}, not a list of tools"
        raise InputError(Diagnostic("AM308", message))
    return value


def _message(item: Any, row: Row, column: str, number: int) -> Message:
    if not isinstance(item, Mapping):
        raise _bad_message(row, column, number, f"is {type(item).__name__}, not an object with `role` and `content`")
    message = {key: value for key, value in item.items() if value is not None}
    if "role" not in message and "from" in message:
        speaker = message.pop("from")
        message["role"] = _SPOKEN_NAMES.get(speaker, speaker) if isinstance(speaker, str) else speaker
        if "value" in message:
            message["content"] = message.pop("value")
    if not isinstance(message.get("role"), str):
        raise _bad_message(row, column, number, "has no `role`")
    if "content" not in message and not message.get("tool_calls"):
        raise _bad_message(row, column, number, "has no `content`")
    if "content" in message:
        content = _content(message["content"], row, column, number)
        message["content"] = checked_text(content, row, column)
    return message


def _content(content: Any, row: Row, column: str, number: int) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _bad_message(row, column, number, f"has a `content` of kind {type(content).__name__}, not text")
    texts = []
    for part in content:
        if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
            raise _bad_message(row, column, number, "has a `content` with a part that is not text")
        texts.append(part["text"])
    return "".join(texts)


def _bad_message(row: Row, column: str, number: int, what: str) -> InputError:
    message = f"`{row.place}`: message {number} of column `{column}` {what}"
    helps = ("a message is `{role: user, content: …}` or `{from: human, value: …}`",)
    return InputError(Diagnostic("AM312", message, helps=helps))
