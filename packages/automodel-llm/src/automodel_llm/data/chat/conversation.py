"""A conversation as a chat template takes it, and which of its turns are learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

Message = Mapping[str, Any]

ASSISTANT: Final = "assistant"
_INSTRUCTIONS: Final = frozenset({"system", "developer"})


@attrs.frozen
class Conversation:
    """``messages`` up to the last turn that is learned; ``targets`` are the places of those that are, ascending.

    ``place`` says where it was read.
    """

    place: str
    messages: tuple[Message, ...]
    targets: tuple[int, ...]
    tools: tuple[Any, ...] = ()

    def until(self, target: int) -> Conversation:
        """Return the conversation up to one turn, which alone is learned."""
        return attrs.evolve(self, messages=self.messages[: target + 1], targets=(target,))

    def without_oldest_exchange(self) -> Conversation | None:
        """Return the conversation from the second user's turn on, instructions kept; ``None`` when none is left."""
        first = next((i for i, m in enumerate(self.messages) if m["role"] not in _INSTRUCTIONS), 0)
        users = [i for i, m in enumerate(self.messages) if m["role"] == "user" and i > first]
        if not users:
            return None
        gone = users[0] - first
        targets = tuple(t - gone for t in self.targets if t > users[0])
        if not targets:
            return None
        return attrs.evolve(self, messages=(*self.messages[:first], *self.messages[users[0] :]), targets=targets)

    def with_content(self, contents: Mapping[int, str]) -> Conversation:
        """Return the conversation with the text of some messages replaced."""
        messages = tuple(
            {**message, "content": contents[i]} if i in contents else message for i, message in enumerate(self.messages)
        )
        return attrs.evolve(self, messages=messages)


def conversation_of(
    place: str, messages: Sequence[Message], tools: Sequence[Any], *, last_only: bool
) -> Conversation | None:
    """Return the conversation, or ``None`` when the assistant says nothing in it that can be learned.

    What the assistant says before anybody else did is context: no prompt leads to it. So is a turn without text and
    without a tool call. What follows the last turn that is learned is left out.
    """
    opened = next((i for i, m in enumerate(messages) if m["role"] not in (*_INSTRUCTIONS, ASSISTANT)), len(messages))
    targets = [i for i, m in enumerate(messages) if i > opened and m["role"] == ASSISTANT and _says_something(m)]
    if not targets:
        return None
    if last_only:
        targets = targets[-1:]
    return Conversation(place, tuple(messages[: targets[-1] + 1]), tuple(targets), tuple(tools))


def _says_something(message: Message) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = (part.get("text") for part in parts)
    return bool(message.get("tool_calls")) or any(isinstance(text, str) and text.strip() for text in texts)
