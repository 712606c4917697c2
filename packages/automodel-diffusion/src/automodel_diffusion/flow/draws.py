"""What is random about a training sample, as a function of the run's seed, the epoch and the sample alone."""

from __future__ import annotations

from typing import Any

import attrs
import torch

from automodel_core.data.order import seed_of
from automodel_diffusion.config import FlowMatching
from automodel_diffusion.flow.noise_levels import draw_noise_level


@attrs.frozen
class Drawn:
    """A sample of the data set, and the seed of its noise in this epoch."""

    sample: Any
    seed: int


@attrs.frozen(eq=False)
class DrawnDataset:
    """``dataset`` with a seed for every sample of every epoch: order, accumulation, workers and resume change none."""

    dataset: Any
    seed: int

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def fingerprint(self) -> str | None:
        """That of the data: which samples they are, and in which order."""
        return getattr(self.dataset, "fingerprint", None)

    def __getitem__(self, index: int) -> Drawn:
        return self.at(index, 0)

    def at(self, index: int, epoch: int) -> Drawn:
        """Return the sample at ``index`` with its seed in ``epoch``."""
        return Drawn(self.dataset[index], seed_of("flow", self.seed, epoch, index))


@attrs.frozen(eq=False)
class FlowDraws:
    """The draws of a batch of ``B`` samples: ``levels`` (B,), ``noise`` (B, ...), and which conditions ``drop`` out."""

    levels: torch.Tensor
    noise: torch.Tensor
    drop: torch.Tensor


def draw(settings: FlowMatching, seeds: torch.Tensor, shape: torch.Size) -> FlowDraws:
    """Return the draws of the samples with ``seeds`` (B,); ``shape`` is that of one sample. Made on the CPU."""
    levels, noise, drop = [], [], []
    for seed in seeds.tolist():
        generator = torch.Generator().manual_seed(seed)
        levels.append(draw_noise_level(settings, generator))
        drop.append(bool(torch.rand((), generator=generator) < settings.condition_dropout))
        noise.append(torch.randn(shape, generator=generator))
    return FlowDraws(torch.tensor(levels, dtype=torch.float32), torch.stack(noise), torch.tensor(drop))
