"""Layers of stages, and the batch arithmetic."""

from __future__ import annotations

import pytest

from automodel_core.layout import Batch, chunks_of_rank, nearest_global_batches, partition_layers
from automodel_core.layout.batch import legal_micro_batches
from automodel_core.layout.partition import bubble_fraction


@pytest.mark.parametrize("layers", [61, 92, 94, 126, 27])
@pytest.mark.parametrize("stages", [2, 3, 4, 8, 16])
def test_odd_numbers_of_layers_are_balanced(layers: int, stages: int) -> None:
    parts = partition_layers(layers, stages)

    lengths = [len(part) for part in parts]
    assert [layer for part in parts for layer in part] == list(range(layers))
    assert max(lengths) - min(lengths) <= 1


def test_the_stages_with_the_embedding_and_the_head_get_one_more_last() -> None:
    assert [len(part) for part in partition_layers(10, 4)] == [2, 3, 3, 2]
    assert [len(part) for part in partition_layers(11, 4)] == [3, 3, 3, 2]
    assert [len(part) for part in partition_layers(3, 2)] == [2, 1]
    assert [len(part) for part in partition_layers(5, 1)] == [5]


@pytest.mark.parametrize(("layers", "stages"), [(3, 4), (3, 0), (0, 1), (3, -1)])
def test_an_empty_stage_is_refused(layers: int, stages: int) -> None:
    with pytest.raises(ValueError, match="cannot fill"):
        partition_layers(layers, stages)


def test_virtual_stages_are_dealt_in_turn() -> None:
    assert [chunks_of_rank(rank, 4, 2) for rank in range(4)] == [(0, 4), (1, 5), (2, 6), (3, 7)]
    with pytest.raises(ValueError, match="no pipeline rank 4 of 4"):
        chunks_of_rank(4, 4)


def test_waiting_of_a_pipeline() -> None:
    assert bubble_fraction(1, 8) == 0
    assert bubble_fraction(4, 4) == pytest.approx(3 / 7)
    assert bubble_fraction(4, 4, virtual=2) == pytest.approx(3 / 11)


def test_the_accumulation_that_reaches_a_global_batch() -> None:
    batch = Batch.of_global(128, micro_batch=4, data_parallel=8)

    assert batch.accumulation == 4
    assert batch.global_batch == 128


@pytest.mark.parametrize("given", [(36, 4, 4), (8, 4, 4), (1, 2, 1)])
def test_a_global_batch_that_does_not_divide(given: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="is not a multiple of micro-batch"):
        Batch.of_global(*given)


def test_nearest_legal_values() -> None:
    assert nearest_global_batches(36, 4, 4) == (32, 48)
    assert nearest_global_batches(8, 4, 4) == (16,)
    assert legal_micro_batches(36, 4, most=8) == (1, 3)
    assert legal_micro_batches(37, 4, most=8) == ()
