"""How a question and its context become the text of a prompt."""

from __future__ import annotations

import re
from typing import Final

import attrs

from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError

_QUESTION: Final = "{question}"
_CONTEXT: Final = "{context}"


@attrs.frozen
class PromptParts:
    """The prompt is ``before + context + after``; the context is what is shortened first."""

    before: str
    context: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.context + self.after


@attrs.frozen
class PromptFormat:
    """``text`` has ``{question}`` and perhaps ``{context}``; ``None``: the context, an empty line, the question.

    What rows hold is put in as it is: a brace or a dollar sign in it has no meaning.
    """

    text: str | None = None

    @classmethod
    def checked(cls, text: str | None, *, with_context: bool) -> PromptFormat:
        """Return the format. Raises :class:`InputError` (AM306) when it leaves out what there is."""
        for placeholder in (_QUESTION, _CONTEXT) if with_context else (_QUESTION,):
            if text is not None and text.count(placeholder) != 1:
                message = f"`prompt_format` must have `{placeholder}` once, it is {text!r}"
                raise InputError(Diagnostic("AM306", message))
        for name in re.findall(r"\{([a-z_]+)\}", text or ""):
            if f"{{{name}}}" not in (_QUESTION, _CONTEXT):
                helps = (*did_you_mean(name, ("question", "context")), f"it knows `{_QUESTION}` and `{_CONTEXT}`")
                message = f"`prompt_format` has `{{{name}}}`, which stands for nothing"
                raise InputError(Diagnostic("AM306", message, helps=helps))
        return cls(text)

    def fill(self, question: str, context: str) -> PromptParts:
        """Return the prompt of a row."""
        if self.text is None:
            return PromptParts("", context, f"\n\n{question}" if context else question)
        before, found, after = self.text.partition(_CONTEXT)
        shown = context if found else ""  # a format that does without the context, of which the config says nothing
        return PromptParts(before.replace(_QUESTION, question), shown, after.replace(_QUESTION, question))
