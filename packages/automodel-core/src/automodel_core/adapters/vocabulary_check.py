"""Whether a model embeds every token of its tokenizer, said before the first step."""

from __future__ import annotations

from typing import Any

from torch import nn

from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError


def check_token_ids(model: nn.Module, vocabulary: int, span: Span | None) -> None:
    """Raise :class:`InputError` (AM434) when ids below ``vocabulary`` are more than the model's embedding has."""
    embedded = model.get_input_embeddings().num_embeddings  # type: ignore[operator]
    if vocabulary > embedded:
        message = f"the data have {vocabulary} different tokens and the model embeds {embedded}"
        raise InputError(Diagnostic("AM434", message, span, helps=(f"write `vocab_size: {embedded}`, or less",)))


def check_vocabulary(model: nn.Module, tokenizer: Any, span: Span | None) -> None:
    """Raise :class:`InputError` (AM434) when ``tokenizer`` has ids that the transformers model's embedding lacks."""
    known, embedded = len(tokenizer), model.get_input_embeddings().num_embeddings  # type: ignore[operator]
    if known > embedded:
        message = f"the tokenizer has {known} tokens and the model embeds {embedded}"
        helps = (
            "name the tokenizer that belongs to the model in `tokenizer.name_or_path`",
            "after adding tokens, save the model with `resize_token_embeddings` of transformers",
        )
        raise InputError(Diagnostic("AM434", message, span, helps=helps))
