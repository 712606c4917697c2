"""Samples of a pipeline, from the conditions that the config names."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from PIL import Image

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_diffusion.config import Sampling


def conditions(settings: Sampling, conditioned_by: str) -> list[Any]:
    """Return every label or prompt ``per_condition`` times. Raises :class:`InputError` (AM475) for the other kind."""
    key, wrong = ("labels", "prompts") if conditioned_by == "label" else ("prompts", "labels")
    if getattr(settings, wrong):
        message = f"the pipeline is told a {conditioned_by}: `sampling.{wrong}` has no meaning for it"
        raise InputError(Diagnostic("AM475", message, helps=(f"name `sampling.{key}`",)))
    return [condition for condition in getattr(settings, key) for _ in range(settings.per_condition)]


@torch.no_grad()
def sample_images(pipeline: Any, settings: Sampling, conditioned_by: str) -> list[Image.Image]:
    """Return an image for every condition. The same seed gives the same images, whatever ``batch_size`` is."""
    wanted = conditions(settings, conditioned_by)
    images: list[Image.Image] = []
    for start in range(0, len(wanted), settings.batch_size):
        part = wanted[start : start + settings.batch_size]
        generators = [torch.Generator().manual_seed(settings.seed + start + number) for number in range(len(part))]
        images.extend(pipeline(**_arguments(pipeline, settings, conditioned_by, part), generator=generators).images)
    return images


def _arguments(pipeline: Any, settings: Sampling, conditioned_by: str, part: Sequence[Any]) -> dict[str, Any]:
    name = "class_labels" if conditioned_by == "label" else "prompt"
    taken = inspect.signature(type(pipeline).__call__).parameters
    sizes = {key: size for key, size in _sizes(pipeline) if key in taken}
    return {
        name: list(part),
        "num_inference_steps": settings.num_inference_steps,
        "guidance_scale": settings.guidance_scale,
        **sizes,
    }


def _sizes(pipeline: Any) -> Iterator[tuple[str, int]]:
    """Yield the height and width that the denoiser was made for."""
    denoiser = pipeline.components.get("transformer") or pipeline.components.get("unet")
    edge = getattr(denoiser.config, "sample_size", None)
    if isinstance(edge, int):
        for key in ("height", "width"):
            yield key, edge * getattr(pipeline, "vae_scale_factor", 1)


def grid(images: Sequence[Image.Image], columns: int) -> Image.Image:
    """Return the images side by side in rows of ``columns``, with a line of grey between them."""
    width, height = images[0].size
    across, down = min(columns, len(images)), -(-len(images) // columns)
    sheet = Image.new("RGB", (across * (width + 1) - 1, down * (height + 1) - 1), (128, 128, 128))
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        sheet.paste(image.convert("RGB"), (column * (width + 1), row * (height + 1)))
    return sheet
