"""Which token predicts which, by hand."""

import pytest
import torch

from automodel_llm.data.collate import PaddedCollate
from automodel_llm.data.encoded import Encoded
from automodel_llm.data.prompt_answer import IGNORED, TextSample, encode_prompt_and_answer


def supervise_tail(ids: list[int], supervised: int) -> TextSample:
    """Return ``ids`` of which the last ``supervised`` are learned."""
    return TextSample.of(Encoded(ids, [False] * (len(ids) - supervised) + [True] * supervised))


def encode(*arguments) -> TextSample:
    return TextSample.of(encode_prompt_and_answer(*arguments))


class Words:
    """A tokenizer over whole words: the id of `w7` is 7. Begins a text with 1 when asked for special tokens."""

    eos_token_id = 2

    def __init__(self, begin: bool = True) -> None:
        self.begin = begin

    def __call__(self, text: str, add_special_tokens: bool):
        ids = [int(w[1:]) for w in text.split()]
        return {"input_ids": [1, *ids] if add_special_tokens and self.begin else ids}


def test_each_supervised_position_is_labelled_with_the_token_that_follows_it():
    """Prompt 1 10 11 12 13, answer 20 21 and the end token: 13 predicts 20, 20 predicts 21, 21 predicts the end."""
    sample = encode(Words(), "w10 w11", "w12", "w13", "w20 w21", 100)
    assert sample.input_ids == [1, 10, 11, 12, 13, 20, 21, 2]
    assert sample.labels == [IGNORED] * 4 + [20, 21, 2, IGNORED]
    for t, label in enumerate(sample.labels):
        assert label in (IGNORED, sample.input_ids[min(t + 1, 7)])


def test_a_long_context_is_trimmed_before_anything_else():
    sample = encode(Words(), "w10", "w11 w12 w13 w14", "w15", "w20", 6)
    assert sample.input_ids == [1, 10, 11, 15, 20, 2]


def test_a_long_answer_keeps_its_start_supervised():
    sample = encode(Words(), "w10", "w11", "w12", "w20 w21 w22 w23", 4)
    assert sample.input_ids == [12, 20, 21, 22]
    assert sample.labels == [20, 21, 22, IGNORED]


@pytest.mark.parametrize("max_length", range(2, 14))
def test_any_length_fits_and_leaves_supervision(max_length):
    sample = encode(Words(), "w10 w11", "w12 w13 w14", "w15", "w20 w21 w22", max_length)
    assert len(sample.input_ids) == len(sample.labels) <= max_length
    assert sample.labels[0] != IGNORED or len(sample.labels) > 2
    assert any(label != IGNORED for label in sample.labels)


def test_collation_pads_on_the_right_and_never_supervises_padding_even_when_it_is_the_end_token():
    batch = PaddedCollate(pad_token_id=2)([supervise_tail([5, 6, 7, 2], 2), supervise_tail([5, 2], 1)])
    assert batch["input_ids"].tolist() == [[5, 6, 7, 2], [5, 2, 2, 2]]
    assert batch["labels"].tolist() == [[-100, 7, 2, -100], [2, -100, -100, -100]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]


def test_a_batch_without_padding_has_no_mask():
    batch = PaddedCollate()([TextSample([1, 2], [2, IGNORED])] * 3)
    assert set(batch) == {"input_ids", "labels"}
    assert batch["input_ids"].dtype == batch["labels"].dtype == torch.long
