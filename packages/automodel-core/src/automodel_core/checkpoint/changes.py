"""What of a config may not change between a checkpoint and the run that goes on from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from automodel_core.config.batch import saved_accumulation_steps
from automodel_core.specs import SectionSpec

_ACCUMULATION: Final = "step_scheduler.grad_accumulation_steps"

MEANINGFUL_KEYS: Final = (
    "model",
    "dataset",
    "dataloader.batch_size",
    "dataloader.shuffle",
    _ACCUMULATION,
    "optimizer",
    "lr_scheduler",
    "loss_fn",
    "peft",
    "freeze",
    "rng",
    "clip_grad_norm",
)
"""Sections and keys whose values decide what is learned. Intervals and limits may change freely."""
FREE_NAMES: Final = frozenset({"path", "name_or_path", "num_workers", "pin_memory", "cache", "attn_implementation"})
"""Names of keys that may change within them too: where the same thing lies, and how fast it goes."""


def _is_free(name: str) -> bool:
    return name in FREE_NAMES or name.endswith("_name_or_path")


@attrs.frozen
class Change:
    """The value of a key when the checkpoint was saved, and now."""

    key: str
    saved: Any
    now: Any

    def __str__(self) -> str:
        return f"`{self.key}` was {self.saved!r} and is {self.now!r} now"


def meaningful_changes(
    saved: Mapping[str, Any], now: Mapping[str, Any], sections: Iterable[SectionSpec] = ()
) -> list[Change]:
    """Return the keys of :data:`MEANINGFUL_KEYS` that differ, in order, and those that ``sections`` say decide."""
    keys = [*MEANINGFUL_KEYS, *(key for spec in sections for key in _deciding(spec))]
    return [c for key in keys for c in _differences(key, _at(saved, key), _at(now, key))]


def _deciding(spec: SectionSpec) -> Iterator[str]:
    for name in spec.decides:
        yield spec.key if name == "*" else f"{spec.key}.{name}"


def _at(values: Mapping[str, Any], key: str) -> Any:
    if key == _ACCUMULATION:
        return saved_accumulation_steps(values)
    value: Any = values
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _differences(key: str, saved: Any, now: Any) -> Iterator[Change]:
    if isinstance(saved, Mapping) and isinstance(now, Mapping):
        for name in sorted({*saved, *now}):
            if not _is_free(name):
                yield from _differences(f"{key}.{name}", saved.get(name), now.get(name))
    elif isinstance(saved, list) and isinstance(now, list) and len(saved) == len(now):
        for index, (before, after) in enumerate(zip(saved, now, strict=True)):
            yield from _differences(f"{key}.{index}", before, after)
    elif saved != now:
        yield Change(key, saved, now)
