"""Random tokens."""

import pytest

from automodel_core.errors import InputError
from automodel_llm.data.mock_dataset import MockDataset


def test_a_sample_is_a_function_of_the_seed_and_its_index():
    one, other = MockDataset(5, 16, 50, seed=1), MockDataset(9, 16, 50, seed=1)
    assert [one[i] for i in range(5)] == [other[i] for i in range(5)]
    assert one[0] != one[1]
    assert one[0] != MockDataset(5, 16, 50, seed=2)[0]


def test_every_token_is_learned_and_known():
    sample = MockDataset(1, 400, 7)[0]
    assert set(sample.input_ids) == set(range(7))
    assert sample.labels == [*sample.input_ids[1:], -100]


def test_it_ends():
    with pytest.raises(IndexError):
        MockDataset(3)[3]


@pytest.mark.parametrize("wrong", [{"num_samples": 0}, {"max_seq_length": 1}, {"vocab_size": 1}])
def test_sizes_that_make_no_data_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))) as raised:
        MockDataset(**wrong)
    assert raised.value.diagnostics[0].code == "AM306"
