"""The positional operations over weight sources, and the one that is not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import torch

from automodel_core.infrastructure.weights.source import Index, Piece, WeightSource

_T = TypeVar("_T")


def _common_dtype(parts: Sequence[WeightSource]) -> torch.dtype:
    return functools.reduce(torch.promote_types, (part.dtype for part in parts))


def _with(index: Index, dim: int, entry: slice) -> Index:
    return (*index[:dim], entry, *index[dim + 1 :])


class Stack(WeightSource):
    """``torch.stack(parts, dim)``."""

    def __init__(self, parts: Sequence[WeightSource], dim: int) -> None:
        shapes = {tuple(part.shape) for part in parts}
        if len(shapes) != 1:
            raise ValueError(f"stacked weights differ in shape: {sorted(shapes)}")
        self.parts = tuple(parts)
        self.stack_dim = dim % (parts[0].ndim + 1)
        shape = list(parts[0].shape)
        shape.insert(self.stack_dim, len(parts))
        self.shape = torch.Size(shape)
        self.dtype = _common_dtype(parts)

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        chosen = index[self.stack_dim]
        rest = (*index[: self.stack_dim], *index[self.stack_dim + 1 :])
        for place, number in enumerate(range(chosen.start, chosen.stop)):
            yield from self.parts[number].pieces(rest, out.select(self.stack_dim, place))


class Concat(WeightSource):
    """``torch.cat(parts, dim)``."""

    def __init__(self, parts: Sequence[WeightSource], dim: int) -> None:
        self.parts = tuple(parts)
        self.cat_dim = dim % parts[0].ndim
        shape = list(parts[0].shape)
        shape[self.cat_dim] = sum(part.shape[self.cat_dim] for part in parts)
        for part in parts:
            expected = [*shape[: self.cat_dim], part.shape[self.cat_dim], *shape[self.cat_dim + 1 :]]
            if list(part.shape) != expected:
                raise ValueError(f"concatenated weights differ in shape: {[tuple(p.shape) for p in parts]}")
        self.shape = torch.Size(shape)
        self.dtype = _common_dtype(parts)

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        asked = index[self.cat_dim]
        offset = 0
        for part in self.parts:
            size = part.shape[self.cat_dim]
            start, stop = max(asked.start, offset), min(asked.stop, offset + size)
            if start < stop:
                inner = _with(index, self.cat_dim, slice(start - offset, stop - offset))
                yield from part.pieces(inner, out.narrow(self.cat_dim, start - asked.start, stop - start))
            offset += size


class Part(WeightSource):
    """``torch.narrow(source, dim, start, length)``."""

    def __init__(self, source: WeightSource, dim: int, start: int, length: int) -> None:
        self.source = source
        self.part_dim = dim % source.ndim
        self.start = start
        shape = list(source.shape)
        shape[self.part_dim] = length
        self.shape = torch.Size(shape)
        self.dtype = source.dtype

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        asked = index[self.part_dim]
        inner = _with(index, self.part_dim, slice(asked.start + self.start, asked.stop + self.start))
        yield from self.source.pieces(inner, out)


class Squeezed(WeightSource):
    """``source.squeeze(dim)`` of a dimension of size 1."""

    def __init__(self, source: WeightSource, dim: int) -> None:
        self.source = source
        self.squeezed_dim = dim % source.ndim
        if source.shape[self.squeezed_dim] != 1:
            raise ValueError(f"dimension {dim} of {tuple(source.shape)} is not of size 1")
        self.shape = torch.Size([*source.shape[: self.squeezed_dim], *source.shape[self.squeezed_dim + 1 :]])
        self.dtype = source.dtype

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        inner = (*index[: self.squeezed_dim], slice(0, 1), *index[self.squeezed_dim :])
        yield from self.source.pieces(inner, out.unsqueeze(self.squeezed_dim))


class Transposed(WeightSource):
    """``source.transpose(first, second)``."""

    def __init__(self, source: WeightSource, first: int, second: int) -> None:
        self.source = source
        self.first, self.second = first % source.ndim, second % source.ndim
        self.shape = torch.Size(self._swapped(tuple(source.shape)))
        self.dtype = source.dtype

    def _swapped(self, entries: tuple[_T, ...]) -> tuple[_T, ...]:
        swapped = list(entries)
        swapped[self.first], swapped[self.second] = swapped[self.second], swapped[self.first]
        return tuple(swapped)

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        yield from self.source.pieces(self._swapped(index), out.transpose(self.first, self.second))


class Cast(WeightSource):
    """``source.to(dtype)``. Matters to an :class:`Opaque` consumer, which computes in the dtype it is given."""

    def __init__(self, source: WeightSource, dtype: torch.dtype) -> None:
        self.source = source
        self.shape = source.shape
        self.dtype = dtype

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        yield from self.source.pieces(index, out)


class Opaque(WeightSource):
    """Result number ``pick`` of any other function. Exact, but reads its inputs whole; a leaf to everybody else."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        pick: int | None,
        like: torch.Tensor,
    ) -> None:
        self._function, self._args, self._kwargs, self._pick = function, args, kwargs, pick
        self.shape, self.dtype = like.shape, like.dtype

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        yield Piece(self, index, out)

    @torch.no_grad()
    def read(self, index: Index) -> torch.Tensor:
        args = replace_sources(self._args, WeightSource.tensor)
        kwargs = replace_sources(self._kwargs, WeightSource.tensor)
        result = self._function(*args, **kwargs)
        chosen: torch.Tensor = result if self._pick is None else result[self._pick]
        return chosen[index]


def replace_sources(value: Any, replace: Callable[[WeightSource], Any]) -> Any:
    """Return ``value`` with every source inside tuples, lists and dicts replaced."""
    if isinstance(value, WeightSource):
        return replace(value)
    if isinstance(value, (list, tuple)):
        return type(value)(replace_sources(entry, replace) for entry in value)
    if isinstance(value, dict):
        return {key: replace_sources(entry, replace) for key, entry in value.items()}
    return value
