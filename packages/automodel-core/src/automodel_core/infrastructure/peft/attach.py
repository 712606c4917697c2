"""Adding adapters to a model that is still on the meta device."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from automodel_core.diagnostics import Span
from automodel_core.infrastructure.blueprint import ModelAdapter
from automodel_core.infrastructure.peft.layers import PeftLayers, PeftSettings
from automodel_core.infrastructure.peft.lora import LoRALinear
from automodel_core.infrastructure.peft.targets import match_targets


def attach_adapters(
    model: nn.Module, peft: PeftSettings, adapter: ModelAdapter, span_of: Callable[[str], Span | None]
) -> PeftLayers:
    """Turn the layers that ``peft`` names into LoRA layers in place, and return which they are."""
    names = match_targets(
        model,
        peft.target_modules,
        peft.exclude_modules,
        output_head=adapter.output_head(model),
        bypassed=adapter.bypassed_layers(model),
        span_of=span_of,
    )
    modules = tuple(adapter.trained_beside_adapters(model))
    beside = tuple(f"{module}." for module in modules)
    names = tuple(name for name in names if not f"{name}.".startswith(beside))
    for name in names:
        layer = model.get_submodule(name)
        assert isinstance(layer, nn.Linear)
        LoRALinear.convert(layer, rank=peft.rank, alpha=peft.alpha, dropout=peft.dropout, use_rslora=peft.use_rslora)
    return PeftLayers(
        names,
        peft.rank,
        peft.alpha,
        peft.dropout,
        peft.use_rslora,
        scope=adapter.peft_scope(model),
        whole=tuple(name for name, _ in model.named_parameters() if name.startswith(beside)),
        whole_modules=modules,
        task=adapter.peft_task(model),
    )
