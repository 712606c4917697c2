"""The adapter of every transformers model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedModel

from automodel_core.adapters.conversion import bind_checkpoint, unbind_checkpoint
from automodel_core.adapters.flops import flops_per_token
from automodel_core.adapters.initialisation import initialisation_steps, rebuild_unsaved_buffers
from automodel_core.adapters.layers import bypassed_layers, output_head, repeated_blocks
from automodel_core.adapters.model_parts import named_parts
from automodel_core.adapters.saving import save_configuration
from automodel_core.infrastructure.blueprint import BoundNames, ModelAdapter
from automodel_core.infrastructure.weights import Initialiser, WeightSource
from automodel_core.infrastructure.weights.recording import record_initialisers


class TransformersAdapter(ModelAdapter):
    """Implements the :class:`ModelAdapter` protocol. Holds nothing: one object serves every model."""

    def bind(self, model: nn.Module, checkpoint: Mapping[str, WeightSource]) -> BoundNames:
        """Match by transformers' own renamings and conversions."""
        return bind_checkpoint(_pretrained(model), checkpoint)

    def unbind(self, model: nn.Module, sources: Mapping[str, WeightSource]) -> dict[str, WeightSource]:
        """Return exactly the keys that ``save_pretrained`` writes."""
        return unbind_checkpoint(_pretrained(model), sources)

    def tied_names(self, model: nn.Module) -> Mapping[str, str]:
        """Return the ties that the configuration asks for."""
        return dict(_pretrained(model).all_tied_weights_keys)

    def tie(self, model: nn.Module) -> None:
        """Tie the weights again."""
        _pretrained(model).tie_weights(recompute_mapping=False)

    def initialisers(self, model: nn.Module) -> Mapping[str, Initialiser]:
        """Record ``_init_weights`` on the meta device."""
        return record_initialisers(model, initialisation_steps(_pretrained(model)), self.tied_names(model))

    def rebuild_buffers(self, model: nn.Module, device: torch.device) -> None:
        """Run ``_init_weights`` for the buffers that no file holds; they are on ``device`` already."""
        rebuild_unsaved_buffers(_pretrained(model))

    def output_head(self, model: nn.Module) -> str | None:
        """Return the output embedding's name."""
        return output_head(_pretrained(model))

    def bypassed_layers(self, model: nn.Module) -> Mapping[str, str]:
        """Return the projections that fused kernels read without a call."""
        return bypassed_layers(_pretrained(model))

    def parts(self, model: nn.Module) -> Mapping[str, nn.Module]:
        """Return the parts that the library's own accessors find."""
        return named_parts(_pretrained(model))

    def blocks(self, model: nn.Module) -> Sequence[tuple[str, nn.Module]]:
        """Return the decoder layers."""
        return repeated_blocks(_pretrained(model))

    def save_config(self, model: nn.Module, directory: Path) -> None:
        """Write ``config.json`` and ``generation_config.json``."""
        save_configuration(_pretrained(model), directory)

    def peft_task(self, model: nn.Module) -> str | None:
        """Return ``CAUSAL_LM`` for whatever generates text."""
        return "CAUSAL_LM" if _pretrained(model).can_generate() else None

    def flops_per_token(self, model: nn.Module, sequence_length: int) -> float | None:
        """Return PaLM's estimate."""
        return flops_per_token(_pretrained(model), sequence_length)


def _pretrained(model: nn.Module) -> PreTrainedModel:
    if not isinstance(model, PreTrainedModel):
        raise TypeError(f"`{type(model).__name__}` is not a transformers model")
    return model
