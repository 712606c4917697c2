"""Messages whose content is parts: texts, and places for images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from automodel_core.data.columns import structure_of
from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.chat.conversation import Message
from automodel_llm.data.chat.reading import messages_of

PLACEHOLDER: Final = "<image>"
"""What stands for an image in a text of the data."""
_PATH_KEYS: Final = ("image", "path", "url", "image_url")
_TEXT: Final = "text"


@attrs.frozen
class VisualMessages:
    """``messages`` with a list of parts as content; ``paths`` of the images that parts themselves name, in order."""

    messages: list[Message]
    paths: list[str]
    places: int
    """How many places for images there are."""


def visual_messages_of(row: Row, column: str) -> VisualMessages:
    """Return the messages in ``column``.

    Content is a text, in which ``<image>`` stands for an image, or a list of parts: ``{type: text, text: …}``, and
    ``{type: image}`` with or without the path of a file under ``image``, ``path`` or ``url``. Raises
    :class:`InputError`: AM308, AM309 and AM312 as for messages of text.
    """
    value = structure_of(row, column)
    paths: list[str] = []
    if isinstance(value, list):
        value = [_with_placeholders(item, paths) for item in value]
    plain = messages_of(attrs.evolve(row, record={**row.record, column: value}), column)
    messages = [_with_parts(message) for message in plain]
    places = sum(part["type"] == "image" for message in messages for part in message.get("content", ()))
    return VisualMessages(messages, paths, places)


def with_parts(role: str, text: str) -> Message:
    """Return a message of ``role`` whose text may have places for images."""
    return _with_parts({"role": role, "content": text})


def check_places(row: Row, places: int, images: int) -> None:
    """Raise :class:`InputError` (AM373) unless there is a place for every image, and an image for every place."""
    if places == images:
        return
    message = f"`{row.place}`: the text has {_count(places, 'place')} for an image, and the row names {images}"
    helps = (f"write `{PLACEHOLDER}`, or a part `{{type: image}}`, once for each image",)
    raise InputError(Diagnostic("AM373", message, helps=helps))


def _with_placeholders(item: Any, paths: list[str]) -> Any:
    """Return a message in which parts that are images are texts, and note the paths that they name."""
    if not isinstance(item, Mapping):
        return item
    key = "content" if "content" in item else "value"
    content = item.get(key)
    if not isinstance(content, list):
        return item
    parts = []
    for part in content:
        if isinstance(part, Mapping) and part.get("type") in ("image", "image_url"):
            named = next((part[name] for name in _PATH_KEYS if part.get(name)), None)
            named = named.get("url") if isinstance(named, Mapping) else named
            if isinstance(named, str):
                paths.append(named.removeprefix("file://"))
            part = {"type": _TEXT, _TEXT: PLACEHOLDER}
        parts.append(part)
    return {**item, key: parts}


def _with_parts(message: Message) -> Message:
    content = message.get("content")
    if not isinstance(content, str):
        return message
    parts: list[dict[str, str]] = []
    for number, text in enumerate(content.split(PLACEHOLDER)):
        if number:
            parts.append({"type": "image"})
        if text:
            parts.append({"type": _TEXT, _TEXT: text})
    return {**message, "content": parts}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
