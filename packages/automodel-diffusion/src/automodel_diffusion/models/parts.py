"""The run's processor: the pipeline without its denoiser, whose other parts stay frozen."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import diffusers
import torch
from torch import nn

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_diffusion.models import class_conditional
from automodel_diffusion.models.class_conditional import ClassConditionalPipeline
from automodel_diffusion.models.denoisers import DenoiserKind, denoiser_kind
from automodel_diffusion.models.pipeline import (
    INDEX,
    PipelineDescription,
    check_scheduler,
    describe,
    make_scheduler,
)

OWN_CODE: Final = "pipeline.py"
"""The code of a pipeline that diffusers has no class for, beside its parts."""


@attrs.frozen(eq=False)
class PipelineParts:
    """The ``pipeline`` with everything but the denoiser, and the ``description`` of that."""

    pipeline: Any
    description: PipelineDescription

    @property
    def kind(self) -> DenoiserKind:
        """How the denoiser is called."""
        return denoiser_kind(self.description.class_name)

    @property
    def vae(self) -> Any:
        """The autoencoder, or ``None`` for a pipeline in pixels."""
        return getattr(self.pipeline, "vae", None)

    def place_on(self, device: torch.device) -> None:
        """Move the frozen parts to ``device``."""
        self.pipeline.to(device)

    def with_denoiser(self, model: nn.Module) -> Any:
        """Return the pipeline with ``model`` as its denoiser."""
        self.pipeline.register_modules(**{self.description.component: model})
        self.pipeline.set_progress_bar_config(disable=True)
        return self.pipeline

    def to_latents(self, images: torch.Tensor) -> torch.Tensor:
        """Return images (B, C, H, W) in [-1, 1] as what the denoiser sees: latents, or the pixels themselves."""
        if self.vae is None:
            return images
        config = self.vae.config
        latents = self.vae.encode(images.to(self.vae.dtype)).latent_dist.mode()
        shift = getattr(config, "shift_factor", None) or 0.0
        scaled: torch.Tensor = (latents - shift) * config.scaling_factor
        return scaled

    def encode_texts(self, texts: Sequence[str], device: torch.device) -> Mapping[str, torch.Tensor]:
        """Return the embeddings of ``texts`` by the names that the denoiser's call expects."""
        if self.description.class_name == "SD3Transformer2DModel":
            embeds, _, pooled, _ = self.pipeline.encode_prompt(
                list(texts), None, None, device=device, do_classifier_free_guidance=False
            )
            return {"prompt_embeds": embeds, "pooled_prompt_embeds": pooled}
        embeds, _ = self.pipeline.encode_prompt(list(texts), device, 1, False)
        return {"prompt_embeds": embeds}

    def save(self, directory: Path) -> None:
        """Write the index, the scheduler and the frozen parts of the pipeline into ``directory``."""
        source = self.description.directory
        if source is None:
            self._save_described(directory)
            return
        for part in sorted(p for p in source.iterdir() if p.is_dir() and p.name != self.description.component):
            if part.name in self.pipeline.components and part.name != "scheduler":
                shutil.copytree(part, directory / part.name, copy_function=_link)
        shutil.copy2(source / INDEX, directory / INDEX)
        if (source / OWN_CODE).is_file():
            shutil.copy2(class_conditional.__file__, directory / OWN_CODE)
        self.pipeline.scheduler.save_pretrained(directory / "scheduler")
        index = json.loads((directory / INDEX).read_text(encoding="utf-8"))
        index["scheduler"] = ["diffusers", type(self.pipeline.scheduler).__name__]
        _write_json(directory / INDEX, index)

    def _save_described(self, directory: Path) -> None:
        scheduler = self.pipeline.scheduler
        scheduler.save_pretrained(directory / "scheduler")
        index = {
            "_class_name": ["pipeline", ClassConditionalPipeline.__name__],
            "_diffusers_version": diffusers.__version__,
            "scheduler": ["diffusers", type(scheduler).__name__],
            self.description.component: ["diffusers", self.description.class_name],
        }
        _write_json(directory / INDEX, index)
        shutil.copy2(class_conditional.__file__, directory / OWN_CODE)


def load_parts(method: str, arguments: Mapping[str, Any]) -> PipelineParts:
    """Return the parts of what the ``model`` section describes. Raises :class:`InputError`."""
    described = describe(method, **arguments)
    denoiser_kind(described.class_name)
    scheduler = arguments.get("scheduler")
    if described.directory is None:
        chosen = make_scheduler(scheduler or {"_class_name": "FlowMatchEulerDiscreteScheduler"})
        return PipelineParts(ClassConditionalPipeline(None, chosen), described)
    given: dict[str, Any] = {described.component: None}
    if scheduler is not None:
        given["scheduler"] = make_scheduler(scheduler)
    if (described.directory / OWN_CODE).is_file():
        own = diffusers.FlowMatchEulerDiscreteScheduler.from_pretrained(described.directory / "scheduler")
        pipeline: Any = ClassConditionalPipeline(None, given.get("scheduler", own))
    else:
        pipeline = _loaded(described.directory, given)
    check_scheduler(pipeline.scheduler)
    for part in pipeline.components.values():
        if isinstance(part, nn.Module):
            part.requires_grad_(False).eval()
    return PipelineParts(pipeline, described)


def _loaded(directory: Path, given: Mapping[str, Any]) -> Any:
    try:
        return diffusers.DiffusionPipeline.from_pretrained(directory, **given)
    except (OSError, ValueError, AttributeError, ImportError) as error:
        reason = " ".join(str(error).split())
        helps = ("a pipeline directory has a folder for each component that its `model_index.json` names",)
        message = f"`name_or_path` is `{directory}`, a pipeline that diffusers cannot load: {reason}"
        raise InputError(Diagnostic("AM471", message, helps=helps)) from error


def _link(source: str, target: str) -> None:
    """Frozen parts are the same in every checkpoint: they take no space a second time where the disk can share them."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
