"""What a run would train on, as a value: some samples in full, and figures over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from automodel_core.data.row_report import RowReport


@attrs.frozen
class Segment:
    """Text of neighbouring tokens that are all learned, or all not."""

    text: str
    learned: bool


@attrs.frozen
class PreviewSample:
    """A sample as text, with the number of its tokens and of those that are learned."""

    index: int
    tokens: int
    learned: int
    segments: tuple[Segment, ...]


@attrs.frozen
class Bin:
    """``samples`` samples have ``shortest`` to ``longest`` tokens, both included."""

    shortest: int
    longest: int
    samples: int


@attrs.frozen
class Lengths:
    """The lengths of all samples, in tokens."""

    shortest: int
    median: int
    longest: int
    bins: tuple[Bin, ...]


@attrs.frozen
class DataPreview:
    """``tokens`` and ``learned`` are over the whole split; ``padding_share`` is of all positions of an epoch's batches.

    ``report`` is there when the data set keeps one.
    """

    split: str
    samples: tuple[PreviewSample, ...]
    count: int
    tokens: int
    learned: int
    batch_size: int
    padding_share: float
    lengths: Lengths
    report: RowReport | None = None

    @property
    def learned_share(self) -> float:
        """Return the share of tokens that are learned."""
        return self.learned / self.tokens if self.tokens else 0.0

    def to_data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**attrs.asdict(self), "learned_share": self.learned_share}


def measure_lengths(lengths: Sequence[int], bins: int = 10) -> Lengths:
    """Return the spread of ``lengths``, which are not empty, in at most ``bins`` bins of one width."""
    ordered = sorted(lengths)
    shortest, longest = ordered[0], ordered[-1]
    width = max(-(-(longest - shortest + 1) // bins), 1)
    counts = [0] * (-(-(longest - shortest + 1) // width))
    for length in ordered:
        counts[(length - shortest) // width] += 1
    edges = [shortest + number * width for number in range(len(counts))]
    made = tuple(Bin(edge, min(edge + width - 1, longest), n) for edge, n in zip(edges, counts, strict=True))
    return Lengths(shortest, ordered[len(ordered) // 2], longest, made)


def padding_share(lengths: Sequence[int], batches: Iterable[Sequence[int]]) -> float:
    """Return the share of padding when every batch, given as indices, is padded to its longest sample."""
    padding = positions = 0
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        positions += longest * len(batch)
        padding += longest * len(batch) - sum(lengths[i] for i in batch)
    return padding / positions if positions else 0.0
