"""Which characters of a rendered conversation the assistant generates.

A template with ``{% generation %}`` says so. For any other, an answer is what the rendered conversation has beyond the
rendered messages before it with the generation prompt: that is the text a model goes on from when it is used. It
holds only where both are beginnings of the whole conversation; a template that writes earlier turns in another way
once there are later ones is found out by that.
"""

from __future__ import annotations

from typing import Final

import attrs

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import AutomodelError
from automodel_llm.data.chat.conversation import Conversation
from automodel_llm.data.chat.template import ChatTemplate

_HELPS: Final = (
    "mark what the assistant generates with `{% generation %}` … `{% endgeneration %}` in a template of your own, and "
    "name it in `chat_template`",
    "or set `train_on: last_assistant`, when only earlier turns are rewritten",
)


class NotSupervisableError(AutomodelError):
    """The turns of a conversation cannot be told apart, or do not end, in the text that a template makes of it."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@attrs.frozen
class Span:
    """Characters ``start`` to ``end`` are generated; the message they are of goes on to ``limit``.

    ``limit`` is ``None`` for a part of a message that others follow.
    """

    start: int
    end: int
    limit: int | None


@attrs.frozen
class RenderedConversation:
    """A conversation as ``text``, with the spans that are learned, ascending."""

    text: str
    spans: tuple[Span, ...]


def render_supervised(template: ChatTemplate, conversation: Conversation) -> RenderedConversation:
    """Render a conversation and find its targets in the text.

    Raises :class:`NotSupervisableError` when the template writes the messages before a target in another way once
    more follow.
    """
    text = template.render(conversation, conversation.messages)
    if template.marks_generation(conversation):
        return RenderedConversation(text, tuple(_marked_spans(template, conversation, text)))
    return RenderedConversation(
        text, tuple(_answer_span(template, conversation, text, target) for target in conversation.targets)
    )


def _answer_span(template: ChatTemplate, conversation: Conversation, text: str, target: int) -> Span:
    before = conversation.messages[:target]
    prompt = template.render(conversation, before, generation_prompt=True)
    end = _end_of_message(template, conversation, text, target)
    context = template.render(conversation, before)
    if not text.startswith(context):
        raise _rewritten(conversation, target, "the messages before it")
    if not text.startswith(prompt) or len(prompt) > end:
        raise _other_opening(conversation, prompt[len(context) :])
    start = len(prompt)
    if prompt == context:
        start = _after_header(conversation, text, start, end, target)
    return Span(start, end, end)


def _end_of_message(template: ChatTemplate, conversation: Conversation, text: str, target: int) -> int:
    if target == len(conversation.messages) - 1:
        return len(text)
    through = template.render(conversation, conversation.messages[: target + 1])
    if not text.startswith(through):
        raise _rewritten(conversation, target, "it")
    return len(through)


def _after_header(conversation: Conversation, text: str, start: int, end: int, target: int) -> int:
    """Return where the answer begins in the text of its message, for a template without a generation prompt.

    The template's words before it, such as ``Assistant:``, are not the assistant's. Spaces before it are.
    """
    content = conversation.messages[target].get("content")
    if not isinstance(content, str) or not content.strip():
        return start
    at = text.find(content, start, end)
    if at < 0:
        at = text.find(content.strip(), start, end)
    if at < 0:
        raise _rewritten(conversation, target, "its content")
    while at > start and text[at - 1] == " ":
        at -= 1
    return start if text[start:at].isspace() else at


def _marked_spans(template: ChatTemplate, conversation: Conversation, text: str) -> list[Span]:
    generated = template.generated_spans(conversation)
    spans = []
    for target in conversation.targets:
        end = _end_of_message(template, conversation, text, target)
        start = _start_of_message(template, conversation, text, target)
        own = [(s, e) for s, e in generated if start <= s and e <= end]
        if not own:
            raise _unmarked(conversation, target)
        spans += [Span(s, e, None) for s, e in own[:-1]]
        spans.append(Span(*own[-1], end))
    return spans


def _start_of_message(template: ChatTemplate, conversation: Conversation, text: str, target: int) -> int:
    before = template.render(conversation, conversation.messages[:target])
    if not text.startswith(before):
        raise _rewritten(conversation, target, "the messages before it")
    return len(before)


def _rewritten(conversation: Conversation, target: int, what: str) -> NotSupervisableError:
    message = (
        f"`{conversation.place}`: the chat template writes {what} in another way once there is more than message "
        f"{target} ({conversation.messages[target]['role']}), so that its tokens cannot be found"
    )
    return NotSupervisableError(Diagnostic("AM315", message, helps=_HELPS))


def _other_opening(conversation: Conversation, opening: str) -> NotSupervisableError:
    message = (
        f"`{conversation.place}`: the chat template opens the assistant's turn with {opening!r} when a model is to "
        "answer, and writes the answer of a conversation without that"
    )
    return NotSupervisableError(Diagnostic("AM315", message, helps=_HELPS[:1]))


def _unmarked(conversation: Conversation, target: int) -> NotSupervisableError:
    message = (
        f"`{conversation.place}`: the chat template has no `{{% generation %}}` block around message {target}, "
        "which the assistant says"
    )
    return NotSupervisableError(Diagnostic("AM315", message, helps=("put one around every assistant message",)))
