"""Tokens are made once for what they depend on, and again when any of that changes."""

import os
import pickle
from pathlib import Path

import pytest

from automodel_core.data.loader import BatchStream, OrderedLoader
from automodel_llm.data.chat_dataset import ChatDataset
from automodel_llm.data.collate import PaddedCollate
from automodel_llm.data.instruction import InstructionDataset
from automodel_llm.data.text_dataset import TextDataset


def conversation(number: int) -> dict:
    words = " ".join(["very"] * (number % 5))
    return {
        "messages": [
            {"role": "user", "content": f"How is bird {number}?"},
            {"role": "assistant", "content": f"It is {words} rare."},
            {"role": "user", "content": "And the other?"},
            {"role": "assistant", "content": f"It is {number}."},
        ]
    }


@pytest.fixture
def chat(json_lines, chat_tokenizer):
    def make(count=12, template="CHATML", name="chat.jsonl", **arguments):
        path = json_lines(*map(conversation, range(count)), name=name)
        return ChatDataset(path, str(chat_tokenizer(template)), **arguments)

    return make


def samples(dataset):
    return [dataset[i] for i in range(len(dataset))]


def test_the_second_time_they_are_there_and_the_same(chat):
    first, second = chat(), chat()
    assert (first.reused, second.reused) == (False, True)
    assert samples(first) == samples(second) == samples(chat(cache=False))
    assert first.report == second.report


@pytest.mark.parametrize(
    "change",
    [
        {"template": "LLAMA_3"},
        {"chat_template": "{% for m in messages %}{{ m['content'] }}{{ eos_token }}{% endfor %}"},
        {"max_seq_length": 100},
        {"train_on": "last_assistant"},
        {"count": 13},
        {"split": "validation"},
        {"split_seed": 1},
        {"validation_fraction": 0.3},
        {"limit": 3},
    ],
)
def test_any_change_of_what_they_depend_on_makes_them_anew(chat, change):
    chat()
    assert not chat(**change).reused
    assert chat().reused


def test_where_the_data_lies_and_where_one_works_do_not_matter(chat, tmp_path, monkeypatch):
    chat()
    monkeypatch.chdir(tmp_path)
    assert chat(name="same.jsonl").reused
    os.utime(tmp_path / "same.jsonl", (0, 0))
    assert chat(name="same.jsonl").reused


def test_the_columns_and_the_format_of_a_prompt_belong_to_the_key(json_lines, chat_tokenizer):
    path = json_lines({"question": "q", "answer": "a", "other": "b"})

    def reused(**arguments):
        return InstructionDataset(path, str(chat_tokenizer("CHATML")), split="all", **arguments).reused

    assert [reused(), reused()] == [False, True]
    assert not reused(column_mapping={"answer": "other"})
    assert not reused(use_chat_template=False)
    assert not reused(prompt_format="Say {question}:")
    assert reused()


def test_the_column_of_text_belongs_to_the_key(json_lines, tokenizer_directory):
    path = json_lines({"text": "a b c", "other": "d e f"})

    def dataset(**arguments):
        return TextDataset(path, str(tokenizer_directory), split="all", **arguments)

    assert [dataset().reused, dataset().reused, dataset(column="other").reused] == [False, True, False]


def test_another_vocabulary_in_the_same_place_makes_them_anew(chat, chat_tokenizer, tmp_path, json_lines):
    from transformers import AutoTokenizer

    path = json_lines(conversation(1))
    place = tmp_path / "tokenizer"
    for words in ([], ["bird"]):
        tokenizer = AutoTokenizer.from_pretrained(chat_tokenizer("CHATML"))
        tokenizer.add_tokens(words)
        tokenizer.save_pretrained(place)
        assert not ChatDataset(path, str(place), split="all").reused
    assert ChatDataset(path, str(place), split="all").reused


def test_a_damaged_entry_is_made_again(chat, cache):
    expected = samples(chat())
    (tokens,) = Path(cache).rglob("tokens.npy")
    tokens.write_bytes(tokens.read_bytes()[:-2] + b"\x07\x07")
    again = chat()
    assert not again.reused
    assert samples(again) == expected


def test_a_data_set_that_is_sent_to_a_worker_takes_its_tokens_from_the_cache(chat):
    dataset = chat(count=400)
    assert len(pickle.dumps(dataset._cached)) < 1000
    assert samples(pickle.loads(pickle.dumps(dataset))) == samples(dataset)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_that_is_resumed_in_the_second_epoch_sees_the_same_batches(chat, workers):
    dataset = chat()
    loader = OrderedLoader(dataset, 3, PaddedCollate(1), seed=7, num_workers=workers)
    whole = [batch["input_ids"].tolist() for batch in BatchStream(loader).take(8)]
    first = BatchStream(loader)
    first.take(5)
    second = BatchStream(loader)
    second.load_state_dict(first.state_dict())
    assert [batch["input_ids"].tolist() for batch in second.take(3)] == whole[5:]
