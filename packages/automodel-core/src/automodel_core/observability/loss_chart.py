"""The loss of a run as a chart of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from automodel_core.observability.glyphs import Glyphs, heights, resampled
from automodel_core.observability.history import Curve, History

ROWS: Final = 8
_NARROWEST: Final = 20


def loss_chart(history: History, width: int, glyphs: Glyphs) -> list[str]:
    """Return the lines of a chart of the training loss in ``width`` columns, and what validation gave below it.

    Each column is the mean of an equal share of the steps. There are no lines when there was no step.
    """
    curve = history.loss
    if not curve:
        return []
    margin = max(len(_number(value)) for value in curve.values) + 1
    columns = _stretched(curve.values, max(width - margin - 1, _NARROWEST))
    top, bottom = _number(max(columns)), _number(min(columns))
    labels = [top, *[""] * (ROWS - 2), bottom]
    lines = ["loss"]
    for label, cells in zip(labels, _cells(columns, glyphs), strict=True):
        lines.append(f"{label:>{margin - 1}} {glyphs.tick if label else glyphs.axis}{cells}".rstrip())
    lines.append(" " * (margin + 1) + _ends(curve, len(columns)))
    lines.extend(_validation_line(name, points) for name, points in history.validation.items())
    return lines


def _number(loss: float) -> str:
    return f"{loss:.4f}"


def _stretched(values: Sequence[float], width: int) -> list[float]:
    """Return one value a column: several steps share one, or a step takes several."""
    columns = resampled(values, width)
    return [value for value in columns for _ in range(max(width // len(columns), 1))]


def _cells(columns: Sequence[float], glyphs: Glyphs) -> list[str]:
    """Return the rows of an area chart from the top."""
    steps = len(glyphs.bars)
    filled = heights(columns, ROWS * steps)
    rows = []
    for row in reversed(range(ROWS)):
        levels = [min(max(height - row * steps, 0), steps) for height in filled]
        rows.append("".join(glyphs.bars[level - 1] if level else " " for level in levels))
    return rows


def _ends(curve: Curve, width: int) -> str:
    first, last = f"step {curve.steps[0]}", str(curve.steps[-1])
    return first + last.rjust(max(width - len(first), len(last) + 1))


def _validation_line(name: str, curve: Curve) -> str:
    first = f"{name}: {curve.values[0]:.4f} at step {curve.steps[0]}"
    if len(curve.steps) == 1:
        return first
    lowest = min(range(len(curve.values)), key=lambda index: curve.values[index])
    last = f", {curve.values[-1]:.4f} at step {curve.steps[-1]}"
    if lowest in (0, len(curve.values) - 1):
        return first + last
    return f"{first}, lowest {curve.values[lowest]:.4f} at step {curve.steps[lowest]}{last}"
