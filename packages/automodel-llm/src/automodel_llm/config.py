"""The sections that the llm domain adds to a config."""

from __future__ import annotations

import attrs

from automodel_core.config.options import ABOVE_ZERO, NOT_NEGATIVE, POSITIVE, Check, option

_SHARE = Check("more than 0 and at most 1", lambda value: 0 < value <= 1)


@attrs.frozen
class Generation:
    """How text is generated, and from what."""

    prompt: str | None = option(None, "What the model answers or goes on from.")
    system: str | None = option(None, "The system message before the prompt, for a chat template.")
    use_chat_template: bool | None = option(None, "Wrap the prompt; null: when the tokenizer has a chat template.")
    max_new_tokens: int = option(64, "Longest answer, in tokens.", POSITIVE)
    do_sample: bool = option(False, "Draw from the distribution; false: take the likeliest token.")
    temperature: float = option(1.0, "Divides the logits before drawing.", ABOVE_ZERO)
    top_p: float = option(1.0, "Draw from the likeliest tokens of this total probability.", _SHARE)
    top_k: int = option(0, "Draw from this many tokens; 0: from all.", NOT_NEGATIVE)
