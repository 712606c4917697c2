"""The parts of a transformers model that a config may freeze by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from torch import nn
from transformers import PreTrainedModel

_ENCODERS: Final[Mapping[str, str]] = {"vision_tower": "image", "audio_tower": "audio"}


def named_parts(model: PreTrainedModel) -> Mapping[str, nn.Module]:
    """Return those of ``embeddings``, ``language_model``, ``vision_tower`` and ``audio_tower`` that the model has.

    Which modules they are is what the library's own ``get_input_embeddings``, ``get_decoder`` and ``get_encoder`` say.
    """
    whole: Any = model
    found = {"embeddings": whole.get_input_embeddings(), "language_model": whole.get_decoder()}
    for part, modality in _ENCODERS.items():
        encoder = whole.get_encoder(modality=modality)
        # A model without such an encoder answers with itself or with its inner model.
        found[part] = None if encoder in (whole, whole.base_model, found["language_model"]) else encoder
    return {part: module for part, module in found.items() if isinstance(module, nn.Module)}
