"""A conversation as samples: one, or one for each turn where a template rewrites earlier turns."""

from __future__ import annotations

from automodel_core.errors import InputError
from automodel_llm.data.chat.conversation import Conversation
from automodel_llm.data.chat.spans import NotSupervisableError, render_supervised
from automodel_llm.data.chat.template import ChatTemplate
from automodel_llm.data.chat.tokens import encode_rendered
from automodel_llm.data.encoded import Encoded


def supervisable_parts(template: ChatTemplate, conversation: Conversation) -> list[tuple[Conversation, Encoded]]:
    """Return the conversation with its encoding, or, where its turns cannot all be learned in one text, one for each.

    A template that drops the reasoning of earlier turns writes a turn as it was generated only while it is the last.

    Raises:
        InputError: AM315 or AM316 when not even the last turn can be told apart, or does not end.
    """
    try:
        return [(conversation, encode(template, conversation))]
    except NotSupervisableError as error:
        if len(conversation.targets) == 1:
            raise InputError(error.diagnostic) from None
    parts = [conversation.until(target) for target in conversation.targets]
    return [(part, encode_last(template, part)) for part in parts]


def encode(template: ChatTemplate, conversation: Conversation) -> Encoded:
    """Return the tokens of a conversation. Raises :class:`NotSupervisableError`."""
    return encode_rendered(template.tokenizer, render_supervised(template, conversation), conversation.place)


def encode_last(template: ChatTemplate, conversation: Conversation) -> Encoded:
    """Return the tokens of a conversation with one target, its last message. Raises :class:`InputError`."""
    try:
        return encode(template, conversation)
    except NotSupervisableError as error:
        raise InputError(error.diagnostic) from None
