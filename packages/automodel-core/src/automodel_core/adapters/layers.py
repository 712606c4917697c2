"""Which layers of a transformers model are its blocks, its output head, and not safe to adapt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from torch import nn
from transformers import PreTrainedModel

from automodel_core.infrastructure.plain_adapter import longest_module_list

_FUSED_OUTPUT_PROJECTION: Final = frozenset(
    {"bamba", "falcon_h1", "falcon_mamba", "granitemoehybrid", "mamba", "mamba2", "nemotron_h", "zamba2"}
)
"""Model types whose state-space kernels take the weight of ``out_proj`` and never call the layer."""


def repeated_blocks(model: PreTrainedModel) -> list[tuple[str, nn.Module]]:
    """Return the blocks in order: members of module lists of a class that the model declares as not to be split.

    A model that declares none, or none of its module lists' members, falls back to its longest module list.
    """
    declared = set(model._no_split_modules or ())
    blocks: list[tuple[str, nn.Module]] = []
    for name, module in model.named_modules():
        inside = any(name.startswith(f"{outer}.") for outer, _ in blocks)
        listed = isinstance(_parent(model, name), nn.ModuleList)
        if type(module).__name__ in declared and listed and not inside:
            blocks.append((name, module))
    return blocks or longest_module_list(model)


def _parent(model: nn.Module, name: str) -> nn.Module | None:
    return model.get_submodule(name.rpartition(".")[0]) if name else None


def output_head(model: PreTrainedModel) -> str | None:
    """Return the name of the layer that makes the logits."""
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    return next((name for name, module in model.named_modules() if head is not None and module is head), None)


def bypassed_layers(model: PreTrainedModel) -> Mapping[str, str]:
    """Return ``out_proj`` of state-space mixers: on a GPU a fused kernel reads its weight and never calls it."""
    if model.config.get_text_config().model_type not in _FUSED_OUTPUT_PROJECTION:
        return {}
    reason = "the fused kernel of the state-space mixer reads its weight and would ignore an adapter"
    return {name: reason for name, _ in model.named_modules() if name.rpartition(".")[2] == "out_proj"}
