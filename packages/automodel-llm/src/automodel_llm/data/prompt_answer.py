"""A prompt and its answer as token ids, supervised on the answer alone."""

from __future__ import annotations

from typing import Any, Final

import attrs

from automodel_llm.data.encoded import Encoded

IGNORED: Final = -100
"""The label of a position that is not supervised."""


@attrs.frozen
class TextSample:
    """``labels[t]`` is the token that follows ``input_ids[t]`` when that token is supervised, and -100 otherwise."""

    input_ids: list[int]
    labels: list[int]

    @classmethod
    def of(cls, encoded: Encoded) -> TextSample:
        """Return the sample in which every target is the label of the position before it."""
        following = zip(encoded.ids[1:], encoded.targets[1:], strict=True)
        return cls(encoded.ids, [*(token if target else IGNORED for token, target in following), IGNORED])


def encode_prompt_and_answer(
    tokenizer: Any, before: str, trimmed: str, after: str, answer: str, max_length: int
) -> Encoded:
    """Encode ``before + trimmed + after`` as the prompt, then ``answer`` and the end token.

    A sequence longer than ``max_length`` loses the end of ``trimmed`` (a context) first, then the start of the prompt
    and, when the answer alone does not fit, the answer's end: some supervision is always kept.
    """
    head = tokenizer(before, add_special_tokens=True)["input_ids"]
    middle = tokenizer(trimmed, add_special_tokens=False)["input_ids"]
    tail = tokenizer(after, add_special_tokens=False)["input_ids"]
    target = tokenizer(answer, add_special_tokens=False)["input_ids"]
    head = _without_end_token(head, tokenizer.eos_token_id)
    if tokenizer.eos_token_id is not None:
        target = [*target, tokenizer.eos_token_id]
    truncated = len(head) + len(middle) + len(tail) + len(target) > max_length
    target = target[: max_length - 1]
    room = max_length - len(target)
    middle = middle[: max(room - len(head) - len(tail), 0)]
    prompt = [*head, *middle, *tail][-room:]
    return Encoded([*prompt, *target], [*[False] * len(prompt), *[True] * len(target)], truncated)


def _without_end_token(ids: list[int], end: int | None) -> list[int]:
    """Drop the end token that some tokenizers append to every text: the prompt goes on."""
    return ids[:-1] if len(ids) > 1 and ids[-1] == end else ids
