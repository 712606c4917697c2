"""One thing that a rule has to say about a layout."""

from __future__ import annotations

from typing import Final, Literal

import attrs

_LARGEST_SIZE: Final = 16_384


@attrs.frozen
class Finding:
    """``sizes`` are the fields of the request that it is about, the one to change first."""

    rule: str
    severity: Literal["error", "warning"]
    message: str
    reason: str
    sizes: tuple[str, ...]
    helps: tuple[str, ...] = ()


def divisors(number: int, most: int | None = None) -> tuple[int, ...]:
    """Return the divisors of ``number`` up to ``most``, in order, none of them larger than any size of a layout."""
    largest = min(number, most or number, _LARGEST_SIZE)
    return tuple(size for size in range(1, largest + 1) if number % size == 0)


def either(values: tuple[int, ...]) -> str:
    """Return numbers as a choice in words: ``1, 2, 4 or 8``."""
    words = [str(value) for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
