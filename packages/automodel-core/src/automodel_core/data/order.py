"""One global order of the samples of a map-style data set, as a function of the seed and the epoch.

The state of a run's data is then one integer, the samples consumed since the start, whatever the batch size,
accumulation, number of workers or of ranks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import attrs
import torch


def seed_of(*parts: object) -> int:
    """Return a 63-bit seed that is a function of ``parts`` and well apart for close ones."""
    text = "/".join(str(p) for p in parts).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


@attrs.frozen
class GlobalOrder:
    """The order of ``samples`` samples in every epoch."""

    samples: int
    seed: int
    shuffle: bool = True

    def epoch(self, epoch: int) -> list[int]:
        """Return the indices of ``epoch`` in order: a permutation drawn from (seed, epoch), or 0, 1, 2 … unshuffled."""
        if not self.shuffle:
            return list(range(self.samples))
        generator = torch.Generator().manual_seed(seed_of("order", self.seed, epoch))
        return torch.randperm(self.samples, generator=generator).tolist()

    def batches(self, epoch: int, batch_size: int, *, skip: int = 0) -> Iterator[list[int]]:
        """Yield the batches of ``epoch`` after the first ``skip`` samples; the last may be short."""
        indices = self.epoch(epoch)
        for start in range(skip, len(indices), batch_size):
            yield indices[start : start + batch_size]
