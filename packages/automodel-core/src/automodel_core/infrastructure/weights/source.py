"""A weight that has a shape and a dtype, and is read by slice when somebody needs it.

A :class:`WeightSource` is not a tensor, but torch functions on it build a graph of sources, so that a library's own
conversion of checkpoint keys (stack the experts, split the fused projection) runs without touching data. Every
positional node answers one question: which regions of which leaves fill which views of an output. That one answer
serves reading a slice of a parameter, and writing a slice of a checkpoint (with an output on the meta device, whose
views carry offsets and strides).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs
import torch

Index: TypeAlias = tuple[slice, ...]
"""One slice with explicit bounds and step 1 for each dimension."""


def whole(shape: torch.Size | tuple[int, ...]) -> Index:
    """Return the index of everything."""
    return tuple(slice(0, size) for size in shape)


def index_shape(index: Index) -> tuple[int, ...]:
    """Return the shape of what ``index`` selects."""
    return tuple(part.stop - part.start for part in index)


@attrs.frozen(eq=False)
class Piece:
    """``leaf`` at ``index`` is what belongs in ``out``, a view of the output that was asked to be filled."""

    leaf: WeightSource
    index: Index
    out: torch.Tensor


class WeightSource:
    """Base class. Subclasses set ``shape`` and ``dtype`` and say how they are made of others in :meth:`pieces`."""

    shape: torch.Size
    dtype: torch.dtype
    device = torch.device("cpu")

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        """Yield the pieces that fill ``out``, a tensor of the shape of ``index``. Nothing is read."""
        raise NotImplementedError

    @torch.no_grad()
    def read_into(self, index: Index, out: torch.Tensor) -> None:
        """Fill ``out`` with the values at ``index``, cast to its dtype and moved to its device."""
        for piece in self.pieces(index, out):
            if piece.out.numel():
                piece.out.copy_(piece.leaf.read(piece.index))

    def read(self, index: Index) -> torch.Tensor:
        """Return the values at ``index`` on the CPU."""
        out = torch.empty(index_shape(index), dtype=self.dtype)
        self.read_into(index, out)
        return out

    def tensor(self) -> torch.Tensor:
        """Return all values."""
        return self.read(whole(self.shape))

    # What conversion operations ask of a tensor without needing its values.

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def dim(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or one of its entries."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    def contiguous(self) -> WeightSource:
        """Return itself: a source has no layout in memory."""
        return self

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Build a graph node in place of running ``function``."""
        from automodel_core.infrastructure.weights.operations import apply  # the graph is built of sources

        return apply(function, args, kwargs or {})

    def __getattr__(self, name: str) -> Any:
        """Answer methods of ``torch.Tensor`` with graph nodes, so that conversion operations run unchanged."""
        method = None if name.startswith("__") else getattr(torch.Tensor, name, None)
        if not callable(method):
            raise AttributeError(f"a weight source has no `{name}`")
        return lambda *args, **kwargs: type(self).__torch_function__(method, (), (self, *args), kwargs)

    def __getitem__(self, index: Any) -> Any:
        """Return a source of the indexed values."""
        return type(self).__torch_function__(torch.Tensor.__getitem__, (), (self, index), {})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({tuple(self.shape)}, {self.dtype})"


class Leaf(WeightSource):
    """Values that ``reader`` fetches by index: a slice of a file, a part of a tensor."""

    def __init__(
        self,
        name: str,
        shape: torch.Size | tuple[int, ...],
        dtype: torch.dtype,
        reader: Callable[[Index], torch.Tensor],
    ) -> None:
        self.name = name
        self.shape = torch.Size(shape)
        self.dtype = dtype
        self._reader = reader

    def pieces(self, index: Index, out: torch.Tensor) -> Iterator[Piece]:
        yield Piece(self, index, out)

    def read(self, index: Index) -> torch.Tensor:
        return self._reader(index)

    def __repr__(self) -> str:
        return f"Leaf({self.name}, {tuple(self.shape)}, {self.dtype})"


def leaf_over(name: str, tensor: torch.Tensor) -> Leaf:
    """Return the leaf that reads from ``tensor``, which may change meanwhile: it reads the values of that moment."""
    return Leaf(name, tensor.shape, tensor.dtype, lambda index: tensor.detach()[index])
