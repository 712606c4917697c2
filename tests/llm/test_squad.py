import json

import pytest
from tiny import squad_articles, write_squad

from automodel_core.errors import InputError
from automodel_llm.data.squad import SquadDataset

FLAT = [
    {"context": "A b.", "question": "What?", "answers": {"text": ["b", "c"], "answer_start": [2, 2]}},
    {"context": "C d.", "question": "Who?", "answers": {"text": [], "answer_start": []}},
    {"context": "E f.", "question": "How?", "answers": {"text": ["f"], "answer_start": [2]}},
]


@pytest.fixture
def squad(tokenizer_directory):
    return lambda path, **kwargs: SquadDataset(str(tokenizer_directory), str(path), **kwargs)


def supervised_text(dataset, index):
    sample = dataset[index]
    return dataset.tokenizer.decode([label for label in sample.labels if label != -100])


def answers(count):
    """Return the first answers of ``squad_articles(count)``, in order."""
    articles = squad_articles(count)["data"]
    questions = (q for article in articles for paragraph in article["paragraphs"] for q in paragraph["qas"])
    return [question["answers"][0]["text"] for question in questions]


def texts(dataset):
    return [dataset.tokenizer.decode(dataset[i].input_ids) for i in range(len(dataset))]


def context_of(text):
    return text.partition("\nQuestion:")[0]


def test_the_supervised_tokens_are_the_answer_and_the_end(tmp_path, squad):
    dataset = squad(write_squad(tmp_path / "s.json", 10), split="all")
    assert len(dataset) == 10
    for index, answer in enumerate(answers(10)):
        assert supervised_text(dataset, index) == f" {answer}</s>"
    prompt = dataset.tokenizer.decode(dataset[0].input_ids)
    assert prompt.startswith("Context: The ")
    assert "\nQuestion: How is the" in prompt


@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet"])
def test_flat_rows_of_every_kind_give_the_answered_questions(tmp_path, squad, suffix):
    path = tmp_path / f"rows.{suffix}"
    if suffix == "json":
        path.write_text(json.dumps(FLAT))
    elif suffix == "jsonl":
        path.write_text("\n".join(map(json.dumps, FLAT)))
    else:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(FLAT), path)
    dataset = squad(path, split="all", cache=False)
    assert dataset.report.dropped == {"without an answer": 1}
    assert texts(dataset) == [
        "Context: A b.\nQuestion: What?\nAnswer: b</s>",
        "Context: E f.\nQuestion: How?\nAnswer: f</s>",
    ]


def test_one_file_serves_both_splits_without_overlap(tmp_path, squad):
    path = write_squad(tmp_path / "s.json", 20)
    train, held_out, everything = (texts(squad(path, split=s)) for s in ("train", "validation", "all"))
    assert sorted(train + held_out) == sorted(everything)
    assert len(held_out) == 2
    assert not set(map(context_of, train)) & set(map(context_of, held_out))


def test_a_directory_has_a_file_for_each_split(tmp_path, squad):
    write_squad(tmp_path / "train-v1.1.json", 8)
    write_squad(tmp_path / "dev-v1.1.json", 3)
    assert len(squad(tmp_path, split="train")) == 8
    assert len(squad(tmp_path, split="validation")) == 3
    with pytest.raises(InputError, match="no file for split `test`"):
        squad(tmp_path, split="test")


@pytest.mark.parametrize(
    ("rows", "code", "says"),
    [
        ([{"question": "?", "answer": "a"}], "AM309", "no column `context`"),
        ([{"context": "c", "question": 3, "answer": "a"}], "AM308", "`question` holds int"),
        ([{"context": "c", "question": "?", "answers": 3}], "AM308", "`answers` must hold"),
        ([{"context": "c", "question": "?", "answers": []}], "AM318", "1 without an answer"),
        ([], "AM303", "has no rows"),
    ],
)
def test_a_row_that_does_not_fit_is_named(tmp_path, squad, rows, code, says):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(InputError) as error:
        squad(path, split="all")
    assert error.value.diagnostics[0].code == code
    assert says in str(error.value)
    assert "rows.json" in str(error.value)


def test_squad_s_form_with_something_missing_is_said(tmp_path, squad):
    articles = squad_articles(1)
    del articles["data"][0]["paragraphs"][0]["context"]
    path = tmp_path / "s.json"
    path.write_text(json.dumps(articles))
    with pytest.raises(InputError, match="not the structure of SQuAD"):
        squad(path)


@pytest.mark.parametrize("path", ["absent.json", "./absent", "/absent/data", "a/b/c"])
def test_a_path_that_is_not_there_is_not_looked_up_on_a_hub(squad, path):
    with pytest.raises(InputError, match="does not exist"):
        squad(path)


def test_a_tokenizer_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="tokenizer directory"):
        SquadDataset("./absent", str(write_squad(tmp_path / "s.json")))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no tokenizer can be loaded"):
        SquadDataset(str(tmp_path / "empty"), str(tmp_path / "s.json"))


def test_long_contexts_are_trimmed_to_the_length_asked_for(tmp_path, squad):
    dataset = squad(write_squad(tmp_path / "s.json", 6), split="all", max_seq_length=30)
    for index, answer in enumerate(answers(6)):
        assert len(dataset[index].input_ids) <= 30
        assert supervised_text(dataset, index) == f" {answer}</s>"
