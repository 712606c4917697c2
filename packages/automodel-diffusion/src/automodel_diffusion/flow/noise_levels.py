"""How far along the path from data to noise a sample is trained: drawing noise levels, shifting and weighing them.

A noise level ``sigma`` is 0 for data and 1 for noise. Esser et al. 2024, "Scaling Rectified Flow Transformers for
High-Resolution Image Synthesis" (arXiv:2403.03206): logit-normal and mode sampling are section 3.1, the shift is
equation 23, the cosmap weight is section 3.1 too.
"""

from __future__ import annotations

import math

import torch

from automodel_diffusion.config import FlowMatching


def draw_noise_level(settings: FlowMatching, generator: torch.Generator) -> float:
    """Return one noise level in (0, 1), drawn as ``settings.timestep_sampling`` says and shifted.

    Every way of sampling takes the same number of draws, so that what ``generator`` gives next does not depend on it.
    """
    uniform = float(torch.rand((), generator=generator, dtype=torch.float64))
    normal = float(torch.randn((), generator=generator, dtype=torch.float64))
    if settings.timestep_sampling == "logit_normal":
        level = 1 / (1 + math.exp(-(settings.logit_mean + settings.logit_std * normal)))
    elif settings.timestep_sampling == "mode":
        level = mode_level(uniform, settings.mode_scale)
    else:
        level = uniform
    return shift_level(level, settings.shift)


def mode_level(uniform: float, scale: float) -> float:
    """Return the level whose density has its mode in the middle for ``scale`` > 0, from a uniform draw."""
    return 1 - uniform - scale * (math.cos(math.pi / 2 * uniform) ** 2 - 1 + uniform)


def shift_level(level: float, shift: float) -> float:
    """Return the level at which a larger image is as hard to see as ``level`` was: towards noise for ``shift`` > 1."""
    return shift * level / (1 + (shift - 1) * level)


def loss_weight(settings: FlowMatching, levels: torch.Tensor) -> torch.Tensor:
    """Return the weight of each sample's loss: a function of its noise level alone, shape as ``levels``."""
    if settings.weighting == "sigma_sqrt":
        return levels.clamp(min=1e-3) ** -2
    if settings.weighting == "cosmap":
        return 2 / (math.pi * (1 - 2 * levels + 2 * levels**2))
    return torch.ones_like(levels)
