"""Which of the nearest documents of a query are its hard negatives, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs


@attrs.frozen
class Filters:
    """How candidates are sorted out; ``None`` leaves a margin out. See the ``mining`` section of a config."""

    negatives_per_query: int
    skip_nearest: int = 0
    absolute_margin: float | None = None
    relative_margin: float | None = None


@attrs.frozen
class Selection:
    """The places of the negatives, the hardest first, and how many candidates went which way."""

    negatives: tuple[int, ...]
    scores: tuple[float, ...]
    known_positive: int = 0
    above_absolute_margin: int = 0
    above_relative_margin: int = 0
    skipped: int = 0
    surplus: int = 0


def select(
    places: Sequence[int], scores: Sequence[float], positive_score: float, known: Collection[int], filters: Filters
) -> Selection:
    """Return the negatives among candidates that come nearest first.

    A document that is known to answer the query is none. Of the others, one that scores above ``positive_score`` less
    the absolute margin, or less the relative margin's share of its size, may well answer it too and is left out.
    """
    absolute = None if filters.absolute_margin is None else positive_score - filters.absolute_margin
    relative = (
        None if filters.relative_margin is None else positive_score - abs(positive_score) * filters.relative_margin
    )
    known_positive = above_absolute = above_relative = 0
    passed: list[tuple[int, float]] = []
    for place, score in zip(places, scores, strict=True):
        if place in known:
            known_positive += 1
        elif absolute is not None and score > absolute:
            above_absolute += 1
        elif relative is not None and score > relative:
            above_relative += 1
        else:
            passed.append((place, score))
    kept = passed[filters.skip_nearest :][: filters.negatives_per_query]
    skipped = min(filters.skip_nearest, len(passed))
    return Selection(
        tuple(place for place, _ in kept),
        tuple(score for _, score in kept),
        known_positive,
        above_absolute,
        above_relative,
        skipped,
        surplus=len(passed) - skipped - len(kept),
    )


def counts_of(selections: Sequence[Selection], wanted: int) -> dict[str, int]:
    """Return the sums over queries; ``candidates`` is the sum of what they became."""
    counts = {
        "known_positives": sum(s.known_positive for s in selections),
        "above_absolute_margin": sum(s.above_absolute_margin for s in selections),
        "above_relative_margin": sum(s.above_relative_margin for s in selections),
        "skipped_nearest": sum(s.skipped for s in selections),
        "negatives": sum(len(s.negatives) for s in selections),
        "surplus": sum(s.surplus for s in selections),
    }
    return {
        "queries": len(selections),
        "candidates": sum(counts.values()),
        **counts,
        "queries_with_all": sum(len(s.negatives) == wanted for s in selections),
        "queries_with_fewer": sum(0 < len(s.negatives) < wanted for s in selections),
        "queries_without": sum(not s.negatives for s in selections),
    }
