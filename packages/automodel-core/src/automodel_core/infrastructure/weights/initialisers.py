"""Seeded initial values that any rank can draw in part.

Elements are drawn in blocks of 2^20, in row-major order, each block from its own generator seeded by
(seed, name, block). So a slice costs its own blocks only, and every layout of ranks starts from the same numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import attrs
import torch

from automodel_core.infrastructure.weights.source import Index, Piece, WeightSource, index_shape

BLOCK_ELEMENTS: Final = 2**20


class Initialiser(Protocol):
    """How one parameter is initialised, before the run's seed is known."""

    def source(self, seed: int, name: str, shape: torch.Size, dtype: torch.dtype) -> WeightSource:
        """Return the values of the parameter ``name`` under ``seed``."""


@attrs.frozen
class Draw:
    """Independent values: a base distribution, elementwise in-place operations after it, and constant rows.

    ``base`` is ``"normal"`` (mean, std), ``"uniform"`` (low, high) or ``"constant"`` (value, unused). ``then`` are
    names of in-place tensor methods with their scalar arguments. ``rows`` are ``(first, last + 1, value)`` ranges of
    the first dimension that are overwritten, such as the padding row of an embedding.
    """

    base: str
    first: float
    second: float = 0.0
    then: tuple[tuple[str, tuple[Any, ...], tuple[tuple[str, Any], ...]], ...] = ()
    rows: tuple[tuple[int, int, float], ...] = ()

    def source(self, seed: int, name: str, shape: torch.Size, dtype: torch.dtype) -> WeightSource:
        """Return the drawn values as a source."""
        return Drawn(self, seed, name, shape, dtype)


def normal(mean: float, std: float) -> Draw:
    """Return a normal distribution."""
    return Draw("normal", mean, std)


def uniform(low: float, high: float) -> Draw:
    """Return a uniform distribution over ``[low, high)``."""
    return Draw("uniform", low, high)


def constant(value: float) -> Draw:
    """Return one value everywhere."""
    return Draw("constant", value)


def zeros() -> Draw:
    """Return zeros."""
    return constant(0.0)


def ones() -> Draw:
    """Return ones."""
    return constant(1.0)


def generator_for(seed: int, name: str, block: int) -> torch.Generator:
    """Return the generator of one block of one parameter."""
    digest = hashlib.sha256(f"{seed}/{name}/{block}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


class Drawn(WeightSource):
    """The values of a :class:`Draw`. Drawn in float32 (float64 for float64) and then cast."""

    def __init__(self, draw: Draw, seed: int, name: str, shape: torch.Size, dtype: torch.dtype) -> None:
        self.draw, self.seed, self.name = draw, seed, name
        self.shape, self.dtype = torch.Size(shape), dtype
        self._latest: tuple[int, torch.Tensor] | None = None

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        yield Piece(self, index, out)

    def read(self, index: Index) -> torch.Tensor:
        if not self.shape:
            return self._range(0, 1).reshape(()).to(self.dtype)
        out = torch.empty(index_shape(index), dtype=self.dtype)
        row_elements = math.prod(self.shape[1:])
        step = max(1, BLOCK_ELEMENTS // max(row_elements, 1))
        rows, rest = index[0], index[1:]
        for start in range(rows.start, rows.stop, step):
            stop = min(start + step, rows.stop)
            values = self._range(start * row_elements, stop * row_elements).view(stop - start, *self.shape[1:])
            for first, last, value in self.draw.rows:
                values[max(first - start, 0) : max(last - start, 0)] = value
            out[start - rows.start : stop - rows.start] = values[(slice(None), *rest)]
        self._latest = None
        return out

    def _range(self, start: int, stop: int) -> torch.Tensor:
        """Return the elements ``start`` to ``stop`` of the flattened parameter."""
        out = torch.empty(stop - start, dtype=torch.float64 if self.dtype is torch.float64 else torch.float32)
        if start == stop:
            return out
        for block in range(start // BLOCK_ELEMENTS, (stop - 1) // BLOCK_ELEMENTS + 1):
            offset = block * BLOCK_ELEMENTS
            low, high = max(start, offset), min(stop, offset + BLOCK_ELEMENTS)
            out[low - start : high - start] = self._block(block, out.dtype)[low - offset : high - offset]
        return out

    def _block(self, block: int, dtype: torch.dtype) -> torch.Tensor:
        if self._latest is not None and self._latest[0] == block:
            return self._latest[1]  # rows end inside blocks: while one read lasts, the last block is kept
        total = math.prod(self.shape)
        values = torch.empty(min(BLOCK_ELEMENTS, total - block * BLOCK_ELEMENTS), dtype=dtype)
        if self.draw.base == "normal":
            values.normal_(self.draw.first, self.draw.second, generator=generator_for(self.seed, self.name, block))
        elif self.draw.base == "uniform":
            values.uniform_(self.draw.first, self.draw.second, generator=generator_for(self.seed, self.name, block))
        else:
            values.fill_(self.draw.first)
        for method, args, kwargs in self.draw.then:
            getattr(torch.Tensor, method)(values, *args, **dict(kwargs))
        self._latest = (block, values)
        return values


@attrs.frozen(eq=False)
class FromGenerator:
    """Values that only the model's own code can compute: ``compute`` returns the whole parameter.

    It draws from torch's global generator, which is seeded from (seed, name) around the call and restored after it.
    Every layout gets the same numbers, at the price of computing the parameter whole on each rank.
    """

    compute: Callable[[], torch.Tensor]

    def source(self, seed: int, name: str, shape: torch.Size, dtype: torch.dtype) -> WeightSource:
        """Return the computed values as a source."""
        return Computed(self.compute, seed, name, shape, dtype)


class Computed(WeightSource):
    """The values of :class:`FromGenerator`."""

    def __init__(
        self, compute: Callable[[], torch.Tensor], seed: int, name: str, shape: torch.Size, dtype: torch.dtype
    ) -> None:
        self._compute, self.seed, self.name = compute, seed, name
        self.shape, self.dtype = torch.Size(shape), dtype

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        yield Piece(self, index, out)

    @torch.no_grad()
    def read(self, index: Index) -> torch.Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(generator_for(self.seed, self.name, 0).initial_seed())
            return self._compute()[index]
