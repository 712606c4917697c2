import os
import signal

import pytest
import torch

from automodel_core.data.loader import BatchStream, OrderedLoader
from automodel_core.data.order import GlobalOrder
from automodel_core.errors import InputError, RunFailedError


class Numbers:
    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        return index


def flat(batches: list[list[int]]) -> list[int]:
    return [index for batch in batches for index in batch]


def loader(count: int = 10, batch_size: int = 3, **kwargs) -> OrderedLoader:
    return OrderedLoader(Numbers(count), batch_size, list, seed=7, **kwargs)


def test_an_epoch_visits_every_sample_once_in_an_order_of_its_own():
    order = GlobalOrder(20, seed=1)
    first, second = order.epoch(0), order.epoch(1)
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    assert first == GlobalOrder(20, seed=1).epoch(0)
    assert first != GlobalOrder(20, seed=2).epoch(0)


def test_unshuffled_data_keeps_its_order():
    assert GlobalOrder(4, seed=1, shuffle=False).epoch(3) == [0, 1, 2, 3]


def test_the_last_batch_of_an_epoch_may_be_short_and_none_crosses_the_end():
    stream = BatchStream(loader())
    batches = stream.take(8)
    assert [len(b) for b in batches] == [3, 3, 3, 1, 3, 3, 3, 1]
    assert sorted(flat(batches[:4])) == list(range(10))
    assert sorted(flat(batches[4:])) == list(range(10))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("taken", [0, 2, 3, 4, 6])
def test_a_resumed_stream_goes_on_with_the_next_sample(taken, workers):
    whole = BatchStream(loader()).take(9)
    first = BatchStream(loader(num_workers=workers))
    first.take(taken)
    second = BatchStream(loader(num_workers=workers))
    second.load_state_dict(first.state_dict())
    assert second.take(9 - taken) == whole[taken:]


def test_a_stream_may_go_on_with_another_batch_size_in_the_same_order():
    first = BatchStream(loader(12, 3))
    seen = flat(first.take(2))
    second = BatchStream(loader(12, 2))
    second.load_state_dict(first.state_dict())
    assert seen + flat(second.take(3)) == GlobalOrder(12, 7).epoch(0)
    assert second.position() == (1, 0)


def test_a_position_inside_a_batch_is_refused():
    stream = BatchStream(loader(12, 4))
    stream.load_state_dict({"samples_consumed": 6})
    with pytest.raises(ValueError, match="whole batches"):
        stream.position()


@pytest.mark.parametrize("workers", [0, 2])
def test_reading_leaves_the_global_generator_alone(workers):
    """What dropout draws next must not depend on when a pass over the data was started."""
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    BatchStream(loader(num_workers=workers)).take(5)
    assert torch.equal(torch.rand(1), expected)


class Deadly:
    """A data set whose worker is killed when it reads sample 5."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return index


def test_a_worker_that_is_killed_ends_the_run_with_what_to_do():
    loader = OrderedLoader(Deadly(), batch_size=2, collate=list, seed=0, shuffle=False, num_workers=1)
    with pytest.raises(RunFailedError, match=r"a worker of the data loader was killed.*--restore_from\.path latest"):
        list(loader.batches(0))


def test_samples_that_are_not_what_is_collated_are_refused():
    loader = OrderedLoader([1, 2], batch_size=2, collate=lambda samples: {"x": samples[0].input_ids}, seed=0)
    with pytest.raises(InputError, match="not of the kind that this recipe trains on: 'int' object") as error:
        loader.first_batch()
    assert error.value.diagnostics[0].code == "AM320"
