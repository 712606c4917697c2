"""Where the weights of a model lie below a checkpoint: one directory, or one for each of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import attrs

from automodel_core.infrastructure.weights.directory import holds_weights, open_directory
from automodel_core.infrastructure.weights.source import WeightSource

_T = TypeVar("_T")


@attrs.frozen
class WeightsPlace:
    """The weights whose keys begin with ``prefix`` lie in ``directory`` as ``stem.safetensors``, without the prefix.

    ``directory`` is relative to the checkpoint, ``""`` is the checkpoint itself. Shards and their index have the same
    stem.
    """

    directory: str = ""
    stem: str = "model"
    prefix: str = ""


def open_places(root: Path, places: Sequence[WeightsPlace]) -> dict[str, WeightSource]:
    """Return a source for every key below ``root``. Raises what :func:`open_directory` raises."""
    opened: dict[str, WeightSource] = {}
    for place in places:
        found = open_directory(root / place.directory, place.stem)
        opened |= {f"{place.prefix}{key}": source for key, source in found.items()}
    return opened


def holds_places(root: Path, places: Sequence[WeightsPlace]) -> bool:
    """Return whether ``root`` has weights at every one of ``places``, without opening them."""
    return all(holds_weights(root / place.directory, place.stem) for place in places)


def by_place(sources: Mapping[str, _T], places: Sequence[WeightsPlace]) -> dict[WeightsPlace, dict[str, _T]]:
    """Return what belongs to each of ``places``, under the keys that its files have.

    Raises ``ValueError`` for a key without a place.
    """
    longest_first = sorted(places, key=lambda place: -len(place.prefix))
    parts: dict[WeightsPlace, dict[str, _T]] = {place: {} for place in places}
    for key, source in sources.items():
        place = next((place for place in longest_first if key.startswith(place.prefix)), None)
        if place is None:
            raise ValueError(f"no place of the checkpoint holds `{key}`")
        parts[place][key.removeprefix(place.prefix)] = source
    return parts
