"""Adding adapters to a model that is still on the meta device."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError
from automodel_core.infrastructure.blueprint import ModelAdapter
from automodel_core.infrastructure.peft.layers import PeftLayers, PeftSettings
from automodel_core.infrastructure.peft.lora import LoRALinear
from automodel_core.infrastructure.peft.targets import match_targets


def attach_adapters(
    model: nn.Module, peft: PeftSettings, adapter: ModelAdapter, span_of: Callable[[str], Span | None]
) -> PeftLayers:
    """Turn the layers that ``peft`` names into LoRA layers in place, and return which they are."""
    _check_numbers(peft, span_of)
    names = match_targets(
        model,
        peft.target_modules,
        output_head=adapter.output_head(model),
        bypassed=adapter.bypassed_layers(model),
        span_of=span_of,
    )
    for name in names:
        layer = model.get_submodule(name)
        assert isinstance(layer, nn.Linear)
        LoRALinear.convert(layer, rank=peft.rank, alpha=peft.alpha, dropout=peft.dropout, use_rslora=peft.use_rslora)
    return PeftLayers(names, peft.rank, peft.alpha, peft.dropout, peft.use_rslora)


def _check_numbers(peft: PeftSettings, span_of: Callable[[str], Span | None]) -> None:
    problems = []
    if peft.kind.lower() != "lora":
        problems.append(
            Diagnostic(
                "AM423",
                f"`peft.kind` is `{peft.kind}`, which is not there",
                span_of("peft.kind"),
                helps=("use `lora`",),
            )
        )
    if peft.rank < 1:
        problems.append(Diagnostic("AM423", f"`peft.rank` is {peft.rank}, must be at least 1", span_of("peft.rank")))
    if not 0.0 <= peft.dropout < 1.0:
        problems.append(
            Diagnostic("AM423", f"`peft.dropout` is {peft.dropout}, must be in [0, 1)", span_of("peft.dropout"))
        )
    if problems:
        raise InputError(problems)
