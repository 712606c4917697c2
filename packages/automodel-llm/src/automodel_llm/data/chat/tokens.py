"""From rendered text with spans to token ids with targets, every turn with its end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import attrs

from automodel_core.diagnostics import Diagnostic
from automodel_llm.data.chat.spans import NotSupervisableError, RenderedConversation, Span
from automodel_llm.data.encoded import Encoded


@attrs.frozen
class _Run:
    """Tokens ``first`` to ``last`` (exclusive) are a span; those to ``limit`` belong to the same message."""

    first: int
    last: int
    limit: int | None


def encode_rendered(tokenizer: Any, rendered: RenderedConversation, place: str) -> Encoded:
    """Encode a rendered conversation, with the tokens of its spans and the one that ends each turn as targets.

    A last turn that the template does not end gets the tokenizer's end-of-sequence token. What follows the last target
    is left out: nothing is learned from it.

    Raises :class:`NotSupervisableError` when a turn has no end-of-turn token and none can be given to it.
    """
    ids, runs = _tokens_of_spans(tokenizer, rendered)
    targets = [False] * len(ids)
    ends = _end_tokens(tokenizer)
    for number, run in enumerate(runs):
        last = run.last if run.limit is None else _with_end(tokenizer, ids, run, ends)
        if last is None and number == len(runs) - 1 and tokenizer.eos_token_id is not None:
            last = _trimmed(tokenizer, ids, run)
            ids, targets = [*ids[:last], tokenizer.eos_token_id], [*targets[:last], True]
        elif last is None:
            raise _endless(place, has_eos=tokenizer.eos_token_id is not None)
        targets[run.first : last] = [True] * (last - run.first)
    length = len(targets) - targets[::-1].index(True)
    return Encoded(ids[:length], targets[:length])


def _with_end(tokenizer: Any, ids: Sequence[int], run: _Run, ends: frozenset[int]) -> int | None:
    """Return where the run ends with its end-of-turn token, or ``None`` when the message has none behind its text."""
    assert run.limit is not None
    last = run.limit
    while last > run.first and ids[last - 1] not in ends and not _decode(tokenizer, ids[last - 1 : last]).strip():
        last -= 1
    if last <= run.first or ids[last - 1] not in ends:
        return None
    between = ids[run.last : last - 1]
    return last if not _decode(tokenizer, between).strip() else None


def _trimmed(tokenizer: Any, ids: Sequence[int], run: _Run) -> int:
    """Return where the run ends without white space behind it."""
    last = run.last
    while last > run.first + 1 and not _decode(tokenizer, ids[last - 1 : last]).strip():
        last -= 1
    return last


def _tokens_of_spans(tokenizer: Any, rendered: RenderedConversation) -> tuple[list[int], list[_Run]]:
    """Encode the text whole, or in parts when a token would reach over the edge of a span.

    A model that is used goes on from the encoded prompt, so the parts are what it will see. Many tokenizers write the
    space before a word as part of it and begin every text with one: theirs are taken whole where they can be.
    """
    texts = [rendered.text[span.start : span.end] for span in rendered.spans]
    whole = _encode_whole(tokenizer, rendered) if tokenizer.is_fast else None
    if whole is not None and _runs_as_text(tokenizer, *whole) == texts:
        return whole
    parts = _encode_parts(tokenizer, rendered)
    alone = _runs_as_text(tokenizer, *parts)
    if whole is None or alone == texts:
        return parts
    # Characters that the tokenizer does not know, or writes in another way, are lost in both.
    same = [text.strip() for text in _runs_as_text(tokenizer, *whole)] == [text.strip() for text in alone]
    return whole if same else parts


def _encode_whole(tokenizer: Any, rendered: RenderedConversation) -> tuple[list[int], list[_Run]]:
    encoding = tokenizer(rendered.text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    starts = [start for start, _ in encoding["offset_mapping"]]
    return list(encoding["input_ids"]), [_run(span, lambda at: bisect_left(starts, at)) for span in rendered.spans]


def _encode_parts(tokenizer: Any, rendered: RenderedConversation) -> tuple[list[int], list[_Run]]:
    edges = {0, len(rendered.text)}
    for span in rendered.spans:
        edges |= {span.start, span.end, span.end if span.limit is None else span.limit}
    ordered = sorted(edges)
    ids: list[int] = []
    position = {0: 0}
    for start, end in pairwise(ordered):
        ids += tokenizer(rendered.text[start:end], add_special_tokens=False)["input_ids"]
        position[end] = len(ids)
    return ids, [_run(span, position.__getitem__) for span in rendered.spans]


def _run(span: Span, position: Any) -> _Run:
    limit = None if span.limit is None else position(span.limit)
    return _Run(position(span.start), position(span.end), limit)


def _runs_as_text(tokenizer: Any, ids: Sequence[int], runs: Sequence[_Run]) -> list[str]:
    return [_decode(tokenizer, ids[run.first : run.last]) for run in runs]


def _decode(tokenizer: Any, ids: Sequence[int]) -> str:
    text: str = tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return text


@lru_cache(maxsize=8)
def _end_tokens(tokenizer: Any) -> frozenset[int]:
    """Return the ids of the tokens that may end a turn: the special ones, but for those with another meaning."""
    added = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    others = {tokenizer.unk_token_id, tokenizer.bos_token_id} - {tokenizer.eos_token_id}
    return frozenset((added | set(tokenizer.all_special_ids)) - others)


def _endless(place: str, *, has_eos: bool) -> NotSupervisableError:
    message = f"`{place}`: the chat template ends the assistant's turn with no special token, so a model never stops"
    helps = ["let the template write the end-of-sequence token behind assistant messages"]
    if not has_eos:
        helps.append("or give the tokenizer an `eos_token`, which then ends the last turn")
    return NotSupervisableError(Diagnostic("AM316", message, helps=tuple(helps)))
