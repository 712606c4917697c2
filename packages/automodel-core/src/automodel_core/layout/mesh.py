"""A grid of ranks with named axes: where a rank stands on it, and with which ranks it shares a row."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod

import attrs


@attrs.frozen
class Mesh:
    """Axes from the outermost to the innermost; ranks count along the innermost first."""

    axes: tuple[tuple[str, int], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(size for _, size in self.axes)

    @property
    def size(self) -> int:
        """How many ranks the mesh has."""
        return prod(self.shape)

    def coordinates(self, rank: int) -> dict[str, int]:
        """Return where ``rank`` stands on each axis. Raise :class:`ValueError` for a rank that is not on the mesh."""
        if not 0 <= rank < self.size:
            raise ValueError(f"rank {rank} is not on a mesh of {self.size}")
        found = {}
        for name, size in reversed(self.axes):
            rank, found[name] = divmod(rank, size)
        return {name: found[name] for name in self.names}

    def rank(self, coordinates: Mapping[str, int]) -> int:
        """Return the rank at ``coordinates``, one for each axis."""
        rank = 0
        for name, size in self.axes:
            if not 0 <= coordinates[name] < size:
                raise ValueError(f"`{name}` has no coordinate {coordinates[name]}, only {size}")
            rank = rank * size + coordinates[name]
        return rank

    def group(self, rank: int, *axes: str) -> tuple[int, ...]:
        """Return the ranks, in order, that differ from ``rank`` along ``axes`` only; it is one of them."""
        self._check(axes)
        return self._row(self.coordinates(rank), axes)

    def groups(self, *axes: str) -> tuple[tuple[int, ...], ...]:
        """Return every group along ``axes``; together they hold each rank once."""
        self._check(axes)
        outer = [(name, size) for name, size in self.axes if name not in axes]
        corners = product(*(range(size) for _, size in outer))
        zero = dict.fromkeys(axes, 0)
        return tuple(
            self._row({**zero, **dict(zip((name for name, _ in outer), corner, strict=True))}, axes)
            for corner in corners
        )

    def _row(self, start: Mapping[str, int], axes: tuple[str, ...]) -> tuple[int, ...]:
        inner = [(name, size) for name, size in self.axes if name in axes]
        steps = product(*(range(size) for _, size in inner))
        names = [name for name, _ in inner]
        return tuple(self.rank({**start, **dict(zip(names, step, strict=True))}) for step in steps)

    def _check(self, axes: tuple[str, ...]) -> None:
        for axis in axes:
            if axis not in self.names:
                raise ValueError(f"a mesh of {', '.join(self.names)} has no axis `{axis}`")
