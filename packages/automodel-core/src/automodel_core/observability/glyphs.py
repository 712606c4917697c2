"""The characters that curves and the status line are drawn with, and what of them an output can show."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import attrs


@attrs.frozen
class Glyphs:
    """``bars`` from the lowest to the full one; an empty cell is a blank."""

    bars: str
    axis: str
    tick: str
    separator: str
    ellipsis: str


BLOCKS: Final = Glyphs(bars="▁▂▃▄▅▆▇█", axis="│", tick="┤", separator=" · ", ellipsis="…")
ASCII: Final = Glyphs(bars=".:-=+*#@", axis="|", tick="+", separator=" | ", ellipsis=">")


def glyphs_for(encoding: str | None) -> Glyphs:
    """Return the block characters where ``encoding`` has them, ASCII elsewhere."""
    try:
        "".join((BLOCKS.bars, BLOCKS.axis, BLOCKS.tick, BLOCKS.separator, BLOCKS.ellipsis)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def resampled(values: Sequence[float], count: int) -> list[float]:
    """Return at most ``count`` values, each the mean of an equal share of ``values``, in their order."""
    if len(values) <= count:
        return list(values)
    edges = [index * len(values) // count for index in range(count + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]


def heights(values: Sequence[float], levels: int) -> list[int]:
    """Return each value as a height from 1 (the lowest of them) to ``levels`` (the highest); all alike are in between.

    ``values`` are finite.
    """
    low, high = min(values), max(values)
    if high == low:
        return [(levels + 1) // 2] * len(values)
    return [1 + round((value - low) / (high - low) * (levels - 1)) for value in values]


def sparkline(values: Sequence[float], width: int, glyphs: Glyphs) -> str:
    """Return the course of ``values`` in at most ``width`` characters."""
    if not values or width < 1:
        return ""
    return "".join(glyphs.bars[height - 1] for height in heights(resampled(values, width), len(glyphs.bars)))
