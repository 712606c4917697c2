"""Results of several rounds as one Markdown table."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

HEADER = (
    "peer",
    "tokens per CPU-second (range)",
    "× base (range)",
    "peak memory × base",
    "CPU-seconds to first step (range)",
    "× base",
    "largest loss difference",
)

Result = Mapping[str, Any]


def table(results: Mapping[str, Sequence[Result]]) -> str:
    """Return the table; the first peer is the base.

    A ratio is the median over rounds of the ratio within a round, whose runs lie close together in time: that is less
    noisy than a ratio of medians.
    """
    base = next(iter(results.values()))
    rows = [
        HEADER,
        ("---", *["--:"] * (len(HEADER) - 1)),
        *(_row(name, found, base) for name, found in results.items()),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(name: str, results: Sequence[Result], base: Sequence[Result]) -> tuple[str, ...]:
    return (
        name,
        _median_and_range([r["tokens_per_cpu_s"] for r in results], 0),
        _median_and_range(_ratios(results, base, "tokens_per_cpu_s"), 3),
        f"{statistics.median(_ratios(results, base, 'peak_mib')):.2f}",
        _median_and_range([r["first_step_cpu_s"] for r in results], 2),
        f"{statistics.median(_ratios(results, base, 'first_step_cpu_s')):.2f}",
        f"{_apart(results[0]['losses'], base[0]['losses']):.1e}",
    )


def _ratios(results: Sequence[Result], base: Sequence[Result], key: str) -> list[float]:
    return [mine[key] / theirs[key] for mine, theirs in zip(results, base, strict=True)]


def _median_and_range(values: Sequence[float], digits: int) -> str:
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:,.{digits}f} ({low:,.{digits}f} .. {high:,.{digits}f})"


def _apart(losses: Sequence[float], others: Sequence[float]) -> float:
    return max(abs(mine - theirs) for mine, theirs in zip(losses, others, strict=True))
