"""The straight path from data to noise (Lipman et al. 2022, arXiv:2210.02747; Liu et al. 2022, arXiv:2209.03003)."""

from __future__ import annotations

import torch


def on_path(data: torch.Tensor, noise: torch.Tensor, levels: torch.Tensor) -> torch.Tensor:
    """Return ``(1 - sigma) data + sigma noise``; ``levels`` has one noise level for each sample."""
    sigma = _over_samples(levels, data)
    return (1 - sigma) * data + sigma * noise


def velocity(data: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Return the derivative of the path by the noise level, which the model predicts: ``noise - data``."""
    return noise - data


def sample_losses(predicted: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the mean squared error of each sample, in float32. Raises :class:`ValueError` where the shapes differ."""
    if predicted.shape != target.shape:
        shapes = " and ".join(" x ".join(map(str, one.shape[1:])) for one in (predicted, target))
        raise ValueError(f"what is predicted and what is to be predicted differ in shape: {shapes}")
    return (predicted.float() - target.float()).square().flatten(1).mean(1)


def _over_samples(levels: torch.Tensor, data: torch.Tensor) -> torch.Tensor:
    return levels.to(data.dtype).reshape(-1, *[1] * (data.dim() - 1))
