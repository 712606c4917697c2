"""Holding rows out of training: which rows of a file are ``train``, and which ``validation``.

Rows are held out by what they hold. Each has a number drawn from the seed and its content, and those with the
smallest are held out. So equal rows are never on both sides, the order of the rows does not matter, and rows that are
added later move next to none of the others.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs

from automodel_core.data.fingerprints import canonical_bytes
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError

SPLITS: Final = ("train", "validation", "test", "all")
DEFAULT_FRACTION: Final = 0.1


def check_split(split: str) -> None:
    """Raise :class:`InputError` unless ``split`` is the name of one."""
    if split not in SPLITS:
        helps = (*did_you_mean(split, SPLITS), "the splits are " + ", ".join(f"`{name}`" for name in SPLITS))
        raise InputError(Diagnostic("AM307", f"`split` is `{split}`, and data has no such split", helps=helps))


@attrs.frozen
class HoldOut:
    """The share of the rows that is held out of training, and the seed that chooses them."""

    fraction: float = DEFAULT_FRACTION
    seed: int = 0

    @classmethod
    def of(cls, fraction: float | None, seed: int) -> HoldOut:
        """Return the rule for ``validation_fraction`` and ``split_seed`` as a config has them."""
        share = DEFAULT_FRACTION if fraction is None else fraction
        if not 0 <= share < 1:
            message = f"`validation_fraction` must be at least 0 and less than 1, it is {share}"
            raise InputError(Diagnostic("AM306", message))
        return cls(share, seed)

    def key(self, content: Any) -> bytes:
        """Return the number of a row, as bytes that sort like it."""
        seed = self.seed.to_bytes(16, "big", signed=True)
        return hashlib.blake2b(canonical_bytes(content), digest_size=12, key=seed).digest()

    def rows(self, split: str, keys: Iterable[bytes]) -> list[int]:
        """Return the indices of the rows of ``split``, ascending, given the key of every row.

        ``fraction`` of the rows are held out, at least one when it is not 0, and a few more where equal rows go
        together. Training always keeps a row: when all rows are equal, none is held out.
        """
        keys = list(keys)
        if split == "all":
            return list(range(len(keys)))
        held_out = self._held_out(keys)
        wanted = split == "validation"
        return [row for row, key in enumerate(keys) if (key in held_out) is wanted] if split != "test" else []

    def _held_out(self, keys: Sequence[bytes]) -> frozenset[bytes]:
        if self.fraction == 0:
            return frozenset()
        counts = Counter(keys)
        wanted = max(round(len(keys) * self.fraction), 1)
        chosen: list[bytes] = []
        taken = 0
        for key in sorted(counts)[:-1]:
            if taken >= wanted:
                break
            chosen.append(key)
            taken += counts[key]
        return frozenset(chosen)
