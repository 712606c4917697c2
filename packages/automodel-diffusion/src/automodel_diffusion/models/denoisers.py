"""How each kind of denoiser is called: what it takes beside the noisy sample and the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import torch
from torch import nn

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

TRAIN_TIMESTEPS: Final = 1000
"""What diffusers multiplies a noise level with to make the time that a denoiser is told."""


@attrs.frozen
class DenoiserKind:
    """``conditioned_by`` is ``"label"`` or ``"text"``; ``call(model, noisy, time, condition)`` returns the velocity.

    ``no_label`` is the class that means "no class", given the model's configuration.
    """

    conditioned_by: str
    call: Callable[[Any, torch.Tensor, torch.Tensor, Any], torch.Tensor]
    no_label: Callable[[Any], int | None] = attrs.field(default=lambda config: None)


def _labelled_unet(model: Any, noisy: torch.Tensor, time: torch.Tensor, labels: Any) -> torch.Tensor:
    predicted: torch.Tensor = model(noisy, time, class_labels=labels).sample
    return predicted


def _labelled_transformer(model: Any, noisy: torch.Tensor, time: torch.Tensor, labels: Any) -> torch.Tensor:
    predicted: torch.Tensor = model(noisy, timestep=time, class_labels=labels).sample
    return predicted[:, : noisy.shape[1]]  # a model that also predicts a variance has twice the channels


def _texted_unet(model: Any, noisy: torch.Tensor, time: torch.Tensor, text: Mapping[str, torch.Tensor]) -> torch.Tensor:
    predicted: torch.Tensor = model(noisy, time, encoder_hidden_states=text["prompt_embeds"]).sample
    return predicted


def _texted_sd3(model: Any, noisy: torch.Tensor, time: torch.Tensor, text: Mapping[str, torch.Tensor]) -> torch.Tensor:
    predicted: torch.Tensor = model(
        hidden_states=noisy,
        timestep=time,
        encoder_hidden_states=text["prompt_embeds"],
        pooled_projections=text["pooled_prompt_embeds"],
    ).sample
    return predicted


def _last_class(config: Any) -> int | None:
    return None if config.num_class_embeds is None else int(config.num_class_embeds) - 1


KINDS: Final[Mapping[str, DenoiserKind]] = {
    "UNet2DModel": DenoiserKind("label", _labelled_unet, _last_class),
    "DiTTransformer2DModel": DenoiserKind(
        "label", _labelled_transformer, lambda config: int(config.num_embeds_ada_norm)
    ),
    "UNet2DConditionModel": DenoiserKind("text", _texted_unet),
    "SD3Transformer2DModel": DenoiserKind("text", _texted_sd3),
}
"""By the class of diffusers."""


def denoiser_kind(class_name: str) -> DenoiserKind:
    """Return how ``class_name`` is called. Raises :class:`InputError` (AM470) for one that is not known here."""
    kind = KINDS.get(class_name)
    if kind is None:
        known = ", ".join(f"`{name}`" for name in KINDS)
        message = f"the denoiser `{class_name}` cannot be trained yet"
        raise InputError(Diagnostic("AM470", message, helps=(f"those that can are {known}",)))
    return kind


def silence_label_dropout(model: nn.Module) -> None:
    """Leave the dropping of labels to the recipe, which draws it from the sample: a block must not draw its own."""
    for module in model.modules():
        if type(module).__name__ == "LabelEmbedding":
            module.dropout_prob = 0.0  # type: ignore[assignment]
