"""A tokenizer's chat template: from messages to text."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from jinja2 import TemplateError
from transformers.utils.chat_template_utils import render_jinja_template

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.chat.conversation import Conversation, Message

_GENERATION: Final = re.compile(r"\{%-?\s*generation\s*-?%\}")

_RENDERING: Final = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""What rendering a template raises besides, all of it what the template does with the messages."""


@attrs.frozen
class ChatTemplate:
    """The template of ``tokenizer``, or ``own`` in its place."""

    tokenizer: Any
    own: str | None = None

    def text(self, conversation: Conversation) -> str:
        """Return the template itself; a tokenizer may have another one for conversations with tools."""
        template: str = self.tokenizer.get_chat_template(self.own, list(conversation.tools) or None)
        return template

    def render(
        self, conversation: Conversation, messages: Sequence[Message], *, generation_prompt: bool = False
    ) -> str:
        """Return ``messages``, which are some of the conversation's, as text; with what invites the next answer."""
        try:
            rendered: str = self.tokenizer.apply_chat_template(
                list(messages),
                tools=list(conversation.tools) or None,
                chat_template=self.own,
                add_generation_prompt=generation_prompt,
                tokenize=False,
            )
        except (TemplateError, *_RENDERING) as error:
            raise _refused(conversation, error) from None
        return rendered

    def marks_generation(self, conversation: Conversation) -> bool:
        """Return whether the template says itself what the assistant generates, by ``{% generation %}``."""
        return _GENERATION.search(self.text(conversation)) is not None

    def generated_spans(self, conversation: Conversation) -> list[tuple[int, int]]:
        """Return the characters of the rendered conversation that ``{% generation %}`` blocks hold, ascending."""
        try:
            rendering: Any = render_jinja_template(  # a pair, unlike its annotation
                [[dict(message) for message in conversation.messages]],
                tools=list(conversation.tools) or None,
                chat_template=self.text(conversation),
                return_assistant_tokens_mask=True,
                **self.tokenizer.special_tokens_map,
            )
        except (TemplateError, *_RENDERING) as error:
            raise _refused(conversation, error) from None
        _, (spans,) = rendering
        return sorted((start, end) for start, end in spans if end > start)


def open_template(tokenizer: Any, chat_template: str | None) -> ChatTemplate | None:
    """Return the template that ``chat_template`` names (a file) or is, else the tokenizer's; ``None`` without one.

    Raises:
        InputError: AM313 when ``chat_template`` is neither a file nor a template.
    """
    if chat_template is None:
        return ChatTemplate(tokenizer) if tokenizer.chat_template else None
    if "{" in chat_template:
        return ChatTemplate(tokenizer, chat_template)
    try:
        return ChatTemplate(tokenizer, Path(chat_template).expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        message = f"`chat_template` is neither a template nor a file that can be read: `{chat_template}`: {error}"
        raise InputError(Diagnostic("AM313", message)) from None


def with_chat_template(tokenizer: Any, chat_template: str) -> Any:
    """Return a copy of ``tokenizer`` with the template that ``chat_template`` names or is. Raises as above."""
    template = open_template(tokenizer, chat_template)
    assert template is not None
    changed = copy.deepcopy(tokenizer)
    changed.chat_template = template.own
    return changed


def _refused(conversation: Conversation, error: Exception) -> InputError:
    reason = str(error).strip() or type(error).__name__
    roles = ", ".join(str(m["role"]) for m in conversation.messages[:12])
    message = f"`{conversation.place}`: the chat template does not take the messages: {reason}"
    return InputError(Diagnostic("AM314", message, helps=(f"their roles are: {roles}",)))
