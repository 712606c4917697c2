"""Whether a model knows as many positions as the data have, said before the first step."""

from __future__ import annotations

import sys

from torch import nn
from transformers import PreTrainedModel

from automodel_core.diagnostics import Diagnostic, Span, render
from automodel_core.errors import InputError


def check_positions(model: nn.Module, longest: int, span: Span | None, *, key: str = "dataset.max_seq_length") -> None:
    """Compare the tokens of the longest sample with the positions that a transformers model was made for.

    ``key`` of the config is what makes samples shorter.

    Raises :class:`InputError` (AM435) when the model has an embedding for each position, and so none for the rest.
    Warns (AM932) when positions are computed: the model then sees some that it was not trained on.
    """
    if not isinstance(model, PreTrainedModel):
        return
    known = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if not isinstance(known, int) or longest <= known:
        return
    message = f"the longest sample has {longest} tokens, and the model was made for {known} positions"
    helps = (f"set `{key}: {known}`", "or choose a model for longer sequences")
    if _embeds_positions(model, known):
        raise InputError(Diagnostic("AM435", message, span, helps=helps))
    warning = Diagnostic("AM932", message, span, helps=helps, severity="warning")
    print(render([warning], sys.stderr), end="", file=sys.stderr, flush=True)


def _embeds_positions(model: PreTrainedModel, known: int) -> bool:
    tokens = model.get_input_embeddings()
    tables = [m for m in model.modules() if isinstance(m, nn.Embedding) and m is not tokens]
    return any(known <= table.num_embeddings <= known + 2 for table in tables)  # some keep a row or two for padding
