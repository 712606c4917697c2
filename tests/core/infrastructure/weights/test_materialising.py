"""A rank's part of a sharded parameter is read exactly, however it is split. One process plays every rank in turn."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard
from torch.testing._internal.distributed.fake_pg import FakeStore

from automodel_core.infrastructure.weights import leaf_over, materialise

WHOLE = torch.arange(16.0 * 12).reshape(16, 12)


@pytest.fixture(params=range(4))
def rank(request):
    dist.init_process_group("fake", store=FakeStore(), rank=request.param, world_size=4)
    yield request.param
    dist.destroy_process_group()


@pytest.mark.parametrize(
    "placement",
    [Shard(0), Shard(1), Shard(-1), Replicate(), _StridedShard(0, split_factor=2), _StridedShard(1, split_factor=3)],
)
def test_each_rank_gets_its_own_part(rank, placement):
    mesh = init_device_mesh("cpu", (4,))
    expected = distribute_tensor(WHOLE, mesh, [placement], src_data_rank=None)
    parameter = distribute_tensor(torch.zeros_like(WHOLE), mesh, [placement], src_data_rank=None)
    materialise(parameter, leaf_over("w", WHOLE))
    assert torch.equal(parameter.to_local(), expected.to_local())


@pytest.mark.parametrize(
    "placements", [(_StridedShard(0, split_factor=2), Shard(0)), (Shard(0), Shard(1)), (Shard(1), Replicate())]
)
def test_two_axes_of_parallelism(rank, placements):
    mesh = init_device_mesh("cpu", (2, 2))
    expected = distribute_tensor(WHOLE, mesh, placements, src_data_rank=None)
    parameter = distribute_tensor(torch.zeros_like(WHOLE), mesh, placements, src_data_rank=None)
    materialise(parameter, leaf_over("w", WHOLE))
    assert torch.equal(parameter.to_local(), expected.to_local())


def test_only_the_rows_of_this_rank_are_read(rank):
    mesh = init_device_mesh("cpu", (4,))
    asked = []
    leaf = leaf_over("w", WHOLE)
    leaf._reader = lambda index: asked.append(index) or WHOLE[index]
    materialise(distribute_tensor(torch.zeros_like(WHOLE), mesh, [Shard(0)], src_data_rank=None), leaf)
    assert asked == [(slice(4 * rank, 4 * rank + 4), slice(0, 12))]


def test_uneven_shards(rank):
    mesh = init_device_mesh("cpu", (4,))
    rows = WHOLE[:6]  # 2, 2, 2 and 0 rows
    parameter = distribute_tensor(torch.zeros_like(rows), mesh, [Shard(0)], src_data_rank=None)
    materialise(parameter, leaf_over("w", rows))
    assert torch.equal(parameter.to_local(), rows[2 * rank : 2 * rank + 2])
