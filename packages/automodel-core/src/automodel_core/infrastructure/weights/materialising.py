"""Filling a real parameter, or this rank's part of a sharded one, from its source."""

from __future__ import annotations

import itertools
from typing import TypeAlias

import torch
from torch.distributed.tensor import DTensor, Placement, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard  # packed columns; it is not a kind of Shard

from automodel_core.infrastructure.weights.source import WeightSource, whole

Runs: TypeAlias = list[tuple[int, int]]
"""Half-open ranges of one dimension, in the order in which a rank holds them."""


@torch.no_grad()
def materialise(parameter: torch.Tensor, source: WeightSource) -> None:
    """Fill ``parameter`` from ``source``: cast to its dtype, on its device, and only what this rank holds.

    A rank's part is a product of runs per dimension and not one slice: packed column shards (``gate`` and ``up`` in
    one tensor) are not contiguous.
    """
    if not isinstance(parameter, DTensor):
        source.read_into(whole(parameter.shape), parameter.detach())
        return
    local = parameter.to_local()
    runs = [_runs(parameter, dim) for dim in range(parameter.ndim)]
    starts = [list(itertools.accumulate((stop - start for start, stop in dim), initial=0)) for dim in runs]
    for choice in itertools.product(*(range(len(dim)) for dim in runs)):
        into = tuple(slice(starts[d][k], starts[d][k + 1]) for d, k in enumerate(choice))
        source.read_into(tuple(slice(*runs[d][k]) for d, k in enumerate(choice)), local[into])


def _runs(parameter: DTensor, dim: int) -> Runs:
    """Return which ranges of dimension ``dim`` this rank holds.

    torch itself is asked, by distributing ``arange`` with the same placements: that is exact for every kind of
    placement and needs no communication.
    """
    size, mesh = parameter.shape[dim], parameter.device_mesh
    if not any(_shards(placement, dim, parameter.ndim) for placement in parameter.placements):
        return [(0, size)]
    held = distribute_tensor(
        torch.arange(size, device=mesh.device_type),
        mesh,
        [_along_first(placement, dim, parameter.ndim) for placement in parameter.placements],
        src_data_rank=None,
    ).to_local()
    runs: Runs = []
    for position in held.tolist():
        if runs and runs[-1][1] == position:
            runs[-1] = (runs[-1][0], position + 1)
        else:
            runs.append((position, position + 1))
    return runs


def _shards(placement: Placement, dim: int, ndim: int) -> bool:
    return isinstance(placement, (Shard, _StridedShard)) and placement.dim % ndim == dim


def _along_first(placement: Placement, dim: int, ndim: int) -> Placement:
    """Return the placement of a vector that is split as dimension ``dim`` of the parameter is."""
    if not _shards(placement, dim, ndim):
        return Replicate()
    if isinstance(placement, _StridedShard):
        return _StridedShard(0, split_factor=placement.split_factor)
    return Shard(0)
