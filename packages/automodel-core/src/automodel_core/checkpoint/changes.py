"""What of a config may not change between a checkpoint and the run that goes on from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

MEANINGFUL_SECTIONS: Final = ("optimizer", "lr_scheduler", "loss_fn", "peft", "freeze", "rng", "clip_grad_norm")
"""Sections whose values decide what is learned. Paths, intervals and limits may change freely."""


@attrs.frozen
class Change:
    """The value of a key when the checkpoint was saved, and now."""

    key: str
    saved: Any
    now: Any

    def __str__(self) -> str:
        return f"`{self.key}` was {self.saved!r} and is {self.now!r} now"


def meaningful_changes(saved: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    """Return the keys of :data:`MEANINGFUL_SECTIONS` that differ, in order."""
    return [change for key in MEANINGFUL_SECTIONS for change in _differences(key, saved.get(key), now.get(key))]


def _differences(key: str, saved: Any, now: Any) -> Iterator[Change]:
    if isinstance(saved, Mapping) and isinstance(now, Mapping):
        for name in sorted({*saved, *now}):
            yield from _differences(f"{key}.{name}", saved.get(name), now.get(name))
    elif saved != now:
        yield Change(key, saved, now)
