"""Did you mean."""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, candidates: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return the ``candidates`` that look like ``name``, best first; an exact match apart from case comes first."""
    import difflib

    known = list(dict.fromkeys(candidates))
    by_folded = {c.casefold(): c for c in reversed(known)}
    found = difflib.get_close_matches(name.casefold(), list(by_folded), n=limit, cutoff=0.6)
    return [by_folded[f] for f in found]


def did_you_mean(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Return one help line naming the closest candidates, or nothing when none is close."""
    best = closest(name, candidates)
    if not best:
        return ()
    return ("did you mean " + " or ".join(f"`{b}`" for b in best) + "?",)
