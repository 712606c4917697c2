"""What a torch function on weight sources becomes: a positional node where there is one, else an opaque node."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from automodel_core.infrastructure.weights.graph import (
    Concat,
    Opaque,
    Part,
    Squeezed,
    Stack,
    Transposed,
    replace_sources,
)
from automodel_core.infrastructure.weights.source import WeightSource


def _stack(tensors: Sequence[WeightSource], dim: int = 0) -> WeightSource:
    return Stack(tensors, dim)


def _cat(tensors: Sequence[WeightSource], dim: int = 0) -> WeightSource:
    return Concat(tensors, dim)


def _transpose(input: WeightSource, dim0: int, dim1: int) -> WeightSource:
    return Transposed(input, dim0, dim1)


def _narrow(input: WeightSource, dim: int, start: int, length: int) -> WeightSource:
    return Part(input, dim, start, length)


def _squeeze(input: WeightSource, dim: int) -> WeightSource:
    return Squeezed(input, dim) if input.shape[dim] == 1 else input


def _chunk(input: WeightSource, chunks: int, dim: int = 0) -> tuple[WeightSource, ...]:
    size = -(-input.shape[dim] // chunks)
    return _split(input, size, dim)


def _split(input: WeightSource, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[WeightSource, ...]:
    total = input.shape[dim]
    if isinstance(split_size_or_sections, int):
        size = max(split_size_or_sections, 1)
        sections = [min(size, total - start) for start in range(0, total, size)]
    else:
        sections = list(split_size_or_sections)
    starts = [sum(sections[:number]) for number in range(len(sections))]
    return tuple(Part(input, dim, start, length) for start, length in zip(starts, sections, strict=True))


_POSITIONAL: Final[dict[Any, Callable[..., Any]]] = {
    torch.stack: _stack,
    torch.cat: _cat,
    torch.concat: _cat,
    torch.concatenate: _cat,
    torch.transpose: _transpose,
    torch.Tensor.transpose: _transpose,
    torch.narrow: _narrow,
    torch.Tensor.narrow: _narrow,
    torch.squeeze: _squeeze,
    torch.Tensor.squeeze: _squeeze,
    torch.chunk: _chunk,
    torch.Tensor.chunk: _chunk,
    torch.split: _split,
    torch.functional.split: _split,
    torch.Tensor.split: _split,
}


def apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the node, or nodes, that stand for ``function(*args, **kwargs)``."""
    positional = _POSITIONAL.get(function)
    if positional is not None and _binds(positional, args, kwargs) and _only_sources(args, kwargs):
        return positional(*args, **kwargs)
    return _opaque(function, args, kwargs)


def _binds(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False  # a form of the function that the positional node has no word for
    return True


def _only_sources(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    first = args[0] if args else kwargs.get("tensors", kwargs.get("input"))
    members = first if isinstance(first, (list, tuple)) else [first]
    return all(isinstance(member, WeightSource) for member in members)


def _opaque(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run ``function`` on the meta device to learn the shapes, and stand for its results."""

    def on_meta(source: WeightSource) -> torch.Tensor:
        return torch.empty(source.shape, dtype=source.dtype, device="meta")

    result = function(*replace_sources(args, on_meta), **replace_sources(kwargs, on_meta))
    if isinstance(result, torch.Tensor):
        return Opaque(function, args, kwargs, None, result)
    if isinstance(result, (tuple, list)) and all(isinstance(entry, torch.Tensor) for entry in result):
        return tuple(Opaque(function, args, kwargs, number, entry) for number, entry in enumerate(result))
    return result
