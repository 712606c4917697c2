"""A pipeline that samples images of a class, in pixels, from a model trained by flow matching.

This file stands alone: a checkpoint carries it as ``pipeline.py``, so that plain diffusers loads the directory with
``DiffusionPipeline.from_pretrained(directory, trust_remote_code=True)``.
"""
# The base class is untyped:
# mypy: ignore-errors

from __future__ import annotations

import torch
from diffusers import DiffusionPipeline, ImagePipelineOutput
from diffusers.utils.torch_utils import randn_tensor


class ClassConditionalPipeline(DiffusionPipeline):
    """``unet`` (a ``UNet2DModel`` with class embeddings, the last of them for "no class") and a flow ``scheduler``."""

    model_cpu_offload_seq = "unet"

    def __init__(self, unet, scheduler) -> None:
        super().__init__()
        self.register_modules(unet=unet, scheduler=scheduler)

    @torch.no_grad()
    def __call__(
        self,
        class_labels: list[int],
        guidance_scale: float = 1.0,
        num_inference_steps: int = 30,
        generator: torch.Generator | list[torch.Generator] | None = None,
        output_type: str = "pil",
        return_dict: bool = True,
    ) -> ImagePipelineOutput | tuple:
        """Return one image for each of ``class_labels``: ``"pil"``, ``"np"`` (B, H, W, C) or ``"pt"`` (B, C, H, W)."""
        config = self.unet.config
        size = config.sample_size if isinstance(config.sample_size, (list, tuple)) else [config.sample_size] * 2
        shape = (len(class_labels), config.in_channels, *size)
        device = self._execution_device
        sample = randn_tensor(shape, generator=generator, device=device, dtype=self.unet.dtype)
        labels = torch.tensor(class_labels, device=device)
        no_class = torch.full_like(labels, config.num_class_embeds - 1)
        self.scheduler.set_timesteps(num_inference_steps, device=device)
        for time in self.progress_bar(self.scheduler.timesteps):
            velocity = self.unet(sample, time, class_labels=labels).sample
            if guidance_scale != 1.0:
                free = self.unet(sample, time, class_labels=no_class).sample
                velocity = free + guidance_scale * (velocity - free)
            sample = self.scheduler.step(velocity, time, sample).prev_sample
        images = (sample / 2 + 0.5).clamp(0, 1)
        if output_type != "pt":
            images = images.cpu().permute(0, 2, 3, 1).float().numpy()
        if output_type == "pil":
            images = self.numpy_to_pil(images)
        self.maybe_free_model_hooks()
        return ImagePipelineOutput(images=images) if return_dict else (images,)
