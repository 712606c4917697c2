"""Generating text with a model of transformers, from a prompt or from the prompt of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from automodel_core.training.run_state import ModelState
from automodel_core.training.validation import evaluation_mode
from automodel_llm.config import Generation
from automodel_llm.data.prompt_answer import IGNORED, TextSample


def prompt_ids(tokenizer: Any, settings: Generation) -> list[int]:
    """Return the ids of ``settings.prompt``, wrapped in the chat template where that is asked for."""
    chat = settings.use_chat_template
    if chat is None:
        chat = bool(getattr(tokenizer, "chat_template", None))
    if not chat:
        return list(tokenizer(settings.prompt)["input_ids"])
    messages = [{"role": "user", "content": settings.prompt}]
    if settings.system is not None:
        messages.insert(0, {"role": "system", "content": settings.system})
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False)
    return list(ids)


def generate_ids(state: ModelState, ids: Sequence[int], settings: Generation) -> list[int]:
    """Return the ids that the model adds to ``ids``, the end token included when it came to one."""
    sampling: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    if settings.do_sample:
        sampling = {
            "do_sample": True,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "top_k": settings.top_k,
        }
    inputs = torch.tensor([list(ids)], device=state.device)
    with evaluation_mode(state.model):
        generate: Any = state.model.generate
        out = generate(
            inputs,
            attention_mask=torch.ones_like(inputs),
            max_new_tokens=settings.max_new_tokens,
            pad_token_id=_padding(state.processor),
            **sampling,
        )
    return [int(i) for i in out[0, len(ids) :]]


def _padding(tokenizer: Any) -> int | None:
    pad: int | None = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    return pad


def split_sample(sample: TextSample) -> tuple[list[int], list[int]]:
    """Return (prompt, answer) of the first supervised run of ``sample``."""
    first = next(t for t, label in enumerate(sample.labels) if label != IGNORED)
    answer = []
    for label in sample.labels[first:]:
        if label == IGNORED:
            break
        answer.append(label)
    return list(sample.input_ids[: first + 1]), answer


def answers_exactly(state: ModelState, sample: TextSample, settings: Generation) -> bool:
    """Return whether greedy generation from the prompt of ``sample`` gives its answer, apart from outer blanks."""
    prompt, answer = split_sample(sample)
    length = min(len(answer), settings.max_new_tokens) + 1
    given = generate_ids(state, prompt, Generation(max_new_tokens=length))
    decode = state.processor.decode
    return bool(decode(given, skip_special_tokens=True).strip() == decode(answer, skip_special_tokens=True).strip())
