"""Making a conversation fit into a number of tokens without losing what is learned from it.

First the oldest exchanges go, then the prompt's text is cut, and only then the end of the answer. The markers of the
template are never cut: the text is shortened before it is rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import attrs

from automodel_llm.data.chat.conversation import ASSISTANT, Conversation
from automodel_llm.data.chat.encoding import encode_last, supervisable_parts
from automodel_llm.data.chat.template import ChatTemplate
from automodel_llm.data.encoded import Encoded


@attrs.frozen
class Piece:
    """A text of the prompt that may be shortened: at its ``end``, or in its ``middle``."""

    text: str
    cut: Literal["end", "middle"] = "middle"

    def shortened(self, length: int) -> str:
        """Return ``length`` characters of the text."""
        if self.cut == "end":
            return self.text[:length]
        head = (length + 1) // 2
        return self.text[:head] + self.text[len(self.text) - (length - head) :]


Rebuild = Callable[[Sequence[str]], Conversation]
"""Makes the conversation again from the texts of its pieces."""


def fit_conversation(
    template: ChatTemplate,
    conversation: Conversation,
    max_length: int,
    pieces: Sequence[Piece] | None = None,
    rebuild: Rebuild | None = None,
) -> list[Encoded]:
    """Return the samples of a conversation, none longer than ``max_length`` and each with a target.

    ``pieces`` are the texts to shorten, the first first, and ``rebuild`` makes the conversation from them; without
    them they are what others than the assistant say, the longest first. A sample of which nothing can be learned at
    this length is left out.
    """
    samples = []
    for part, encoded in supervisable_parts(template, conversation):
        if len(encoded.ids) > max_length:
            encoded = _fitted(template, part, max_length, pieces, rebuild)
        if encoded.supervised:
            samples.append(encoded)
    return samples


def _fitted(
    template: ChatTemplate,
    conversation: Conversation,
    max_length: int,
    pieces: Sequence[Piece] | None,
    rebuild: Rebuild | None,
) -> Encoded:
    shorter = conversation.without_oldest_exchange()
    while shorter is not None:
        conversation = shorter
        encoded = _encode_one(template, conversation)
        if len(encoded.ids) <= max_length:
            return attrs.evolve(encoded, truncated=True)
        shorter = conversation.without_oldest_exchange()
    if pieces is None or rebuild is None:
        pieces, rebuild = _prompt_texts(conversation)
    return _with_short_texts(template, max_length, pieces, rebuild)


def _with_short_texts(template: ChatTemplate, max_length: int, pieces: Sequence[Piece], rebuild: Rebuild) -> Encoded:
    texts = [piece.text for piece in pieces]
    encoded = _encode_one(template, rebuild(texts))
    for number, piece in enumerate(pieces):
        if len(encoded.ids) <= max_length:
            break
        kept, encoded = _longest_that_fits(template, max_length, piece, number, texts, rebuild)
        texts[number] = kept
    return encoded.cut(max_length)


def _longest_that_fits(
    template: ChatTemplate, max_length: int, piece: Piece, number: int, texts: Sequence[str], rebuild: Rebuild
) -> tuple[str, Encoded]:
    """Return the longest text of a piece with which the sample fits, and the sample; an empty one when none does."""

    def attempt(length: int) -> tuple[str, Encoded]:
        text = piece.shortened(length)
        return text, _encode_one(template, rebuild([*texts[:number], text, *texts[number + 1 :]]))

    best = attempt(0)
    low, high = 0, len(piece.text)
    while len(best[1].ids) <= max_length and high - low > 1:
        middle = (low + high) // 2
        tried = attempt(middle)
        if len(tried[1].ids) <= max_length:
            low, best = middle, tried
        else:
            high = middle
    return best


def _encode_one(template: ChatTemplate, conversation: Conversation) -> Encoded:
    """Return one sample, of the last turn alone when not all can be in one text after the oldest went."""
    parts = supervisable_parts(template, conversation)
    return parts[0][1] if len(parts) == 1 else encode_last(template, conversation.until(conversation.targets[-1]))


def _prompt_texts(conversation: Conversation) -> tuple[list[Piece], Rebuild]:
    places = [
        place
        for place, message in enumerate(conversation.messages)
        if message["role"] != ASSISTANT and isinstance(message.get("content"), str)
    ]
    places.sort(key=lambda place: -len(conversation.messages[place]["content"]))
    pieces = [Piece(conversation.messages[place]["content"]) for place in places]
    return pieces, lambda texts: conversation.with_content(dict(zip(places, texts, strict=True)))
