"""Consolidated safetensors, in one file or in shards with an index, named as the Hugging Face libraries name them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import attrs
import torch
from safetensors.torch import save_file


class TensorSource(Protocol):
    """What is written: a shape, a dtype, and the data on demand."""

    shape: torch.Size
    dtype: torch.dtype

    def tensor(self) -> torch.Tensor:
        """Return the whole tensor."""


@attrs.frozen
class Shard:
    """One weights file and the keys in it."""

    name: str
    keys: tuple[str, ...]


def size_in_bytes(source: TensorSource) -> int:
    """Return the bytes that ``source`` takes on disk."""
    return source.shape.numel() * source.dtype.itemsize


def plan_shards(sizes: Mapping[str, int], max_bytes: int, *, stem: str = "model") -> tuple[Shard, ...]:
    """Fill files of at most ``max_bytes`` in the order of the keys; a key larger than that has a file of its own."""
    groups: list[list[str]] = [[]]
    filled = 0
    for key, size in sizes.items():
        if groups[-1] and filled + size > max_bytes:
            groups.append([])
            filled = 0
        groups[-1].append(key)
        filled += size
    if len(groups) == 1:
        return (Shard(f"{stem}.safetensors", tuple(groups[0])),)
    total = len(groups)
    return tuple(Shard(f"{stem}-{i:05d}-of-{total:05d}.safetensors", tuple(g)) for i, g in enumerate(groups, 1))


def write_model_files(
    sources: Mapping[str, TensorSource], directory: Path, *, max_shard_bytes: int, stem: str = "model"
) -> tuple[Shard, ...]:
    """Write ``sources`` under their keys into ``directory``, one shard in memory at a time."""
    sizes = {key: size_in_bytes(source) for key, source in sources.items()}
    shards = plan_shards(sizes, max_shard_bytes, stem=stem)
    for shard in shards:
        tensors = {key: sources[key].tensor().detach().cpu().contiguous() for key in shard.keys}
        save_file(_apart(tensors), directory / shard.name, metadata={"format": "pt"})
    if len(shards) > 1:
        _write_index(shards, sizes, directory, stem)
    return shards


def _apart(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copy tensors that share storage with an earlier one: a file holds each key's bytes once."""
    seen: set[int] = set()
    result = {}
    for key, tensor in tensors.items():
        storage = tensor.untyped_storage()
        whole = storage.nbytes() == tensor.numel() * tensor.element_size()
        result[key] = tensor if whole and storage.data_ptr() not in seen else tensor.clone()
        seen.add(storage.data_ptr())
    return result


def _write_index(shards: Sequence[Shard], sizes: Mapping[str, int], directory: Path, stem: str) -> None:
    weight_map = {key: shard.name for shard in shards for key in shard.keys}
    index = {"metadata": {"total_size": sum(sizes.values())}, "weight_map": dict(sorted(weight_map.items()))}
    text = json.dumps(index, indent=2, sort_keys=True) + "\n"
    (directory / f"{stem}.safetensors.index.json").write_text(text, encoding="utf-8")
