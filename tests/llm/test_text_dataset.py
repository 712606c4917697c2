"""Blocks of running text, every token learned."""

import json

import pytest

from automodel_core.errors import InputError
from automodel_llm.data.text_dataset import TextDataset

TEXTS = ["The river is slow.", "An old city\nstands near.", "", "A rare bird."]


@pytest.fixture
def text(tokenizer_directory, tmp_path):
    def make(texts=TEXTS, **arguments):
        path = tmp_path / "texts.jsonl"
        path.write_text("\n".join(json.dumps({"text": t}) for t in texts))
        arguments = {"path": str(path), "split": "all", "max_seq_length": 8, **arguments}
        return TextDataset(tokenizer_name_or_path=str(tokenizer_directory), **arguments)

    return make


def stream(dataset):
    return [token for i in range(len(dataset)) for token in dataset[i].input_ids]


def test_documents_follow_each_other_with_the_end_token_between(text):
    dataset = text()
    decoded = dataset.tokenizer.decode(stream(dataset))
    whole = "The river is slow.</s>An old city\nstands near.</s>A rare bird.</s>"
    assert decoded in (whole, whole.removesuffix("</s>"))
    assert dataset.report.dropped == {"without text": 1}


@pytest.mark.parametrize("max_length", range(2, 20))
def test_every_token_but_the_first_is_learned_once(text, max_length):
    dataset = text(max_seq_length=max_length)
    labels = [label for i in range(len(dataset)) for label in dataset[i].labels if label != -100]
    whole = [t for d in TEXTS if d for t in [*dataset.tokenizer(d)["input_ids"], dataset.tokenizer.eos_token_id]]
    assert labels == whole[1:]
    for index in range(len(dataset)):
        sample = dataset[index]
        assert len(sample.input_ids) == len(sample.labels) <= max_length
        assert sample.labels[:-1] == sample.input_ids[1:]
        assert any(label != -100 for label in sample.labels)
    lengths, learned = dataset.token_counts()
    assert lengths.tolist() == [len(dataset[i].input_ids) for i in range(len(dataset))]
    assert learned.tolist() == [sum(x != -100 for x in dataset[i].labels) for i in range(len(dataset))]


def test_a_text_file_is_one_document_or_several(text, tmp_path):
    path = tmp_path / "book.txt"
    path.write_text("One.\n\nTwo.\n\nThree.")
    one = text(path=str(path))
    assert one.tokenizer.decode(stream(one)).removesuffix("</s>") == "One.\n\nTwo.\n\nThree."
    several = text(path=str(path), document_separator="\n\n")
    assert several.tokenizer.decode(stream(several)).removesuffix("</s>") == "One.</s>Two.</s>Three."
    assert several.report.read == 3


def test_a_long_document_is_encoded_in_parts_to_the_same_tokens(text, monkeypatch):
    lines = "\n".join("The river is slow and the bird is rare." for _ in range(50))
    whole = stream(text([lines]))
    monkeypatch.setattr("automodel_llm.data.text_dataset._LARGEST_PART", 100)
    assert stream(text([lines], cache=False)) == whole


def test_documents_are_held_out_as_a_whole(text):
    texts = [f"Document {n} is old." for n in range(30)]
    train, held_out = text(texts, split="train"), text(texts, split="validation")
    assert held_out.report.read == 3
    assert train.report.read == 27
    one_document = ["A single document."]
    with pytest.raises(InputError, match="no row in split `validation`"):
        text(one_document, split="validation")


def test_a_missing_column_is_named(text):
    with pytest.raises(InputError, match="no column `body`"):
        text(column="body")
    with pytest.raises(InputError, match="document_separator"):
        text(document_separator="")
