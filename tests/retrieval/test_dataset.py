"""Rows that hold documents or name them, and what is wrong with some."""

import re

import pytest
from retrieval_made import write_rows

from automodel_core import InputError
from automodel_retrieval.data.document import Document
from automodel_retrieval.data.retrieval_dataset import RetrievalDataset


def code_of(error):
    return [d.code for d in error.value.diagnostics]


@pytest.fixture
def corpus(tmp_path):
    return str(write_rows(tmp_path / "corpus.jsonl", [{"corpus_id": i, "text": f"text {i}"} for i in range(5)]))


def test_texts_lists_and_objects_are_documents_and_columns_are_mapped(tmp_path):
    path = write_rows(
        tmp_path / "a.jsonl",
        [{"q": "one", "right": ["p", {"id": 7, "text": "p7"}], "wrong": ["n", "p", "n"]}, {"q": "two", "right": "x"}],
    )
    data = RetrievalDataset(
        str(path), {"query": "q", "positive": "right", "negatives": "wrong"}, validation_fraction=0.0
    )
    assert data.rows[0].positives == (Document("p"), Document("p7", "7"))
    assert data.rows[0].negatives == (Document("n"),)  # once, and not the positive
    assert data.rows[1].negatives == ()
    assert [d.text for d in data.documents] == ["p", "p7", "n", "x"]


def test_rows_name_documents_of_a_corpus_and_queries_by_id(tmp_path, corpus):
    queries = write_rows(tmp_path / "queries.jsonl", [{"query_id": "q1", "text": "the query"}])
    path = write_rows(tmp_path / "a.jsonl", [{"query_id": "q1", "corpus_id": 3, "neg_doc": [{"id": 4}, 1]}])
    data = RetrievalDataset(str(path), corpus=corpus, queries=str(queries), validation_fraction=0.0)
    (row,) = data.rows
    assert row.query == "the query"
    assert row.positives == (Document("text 3", "3"),)
    assert row.negatives == (Document("text 4", "4"), Document("text 1", "1"))
    assert len(data.documents) == 5


def test_an_id_that_the_corpus_lacks_is_named_with_its_row(tmp_path, corpus):
    path = write_rows(tmp_path / "a.jsonl", [{"query": "a", "positive": 1}, {"query": "b", "positive": 99}])
    with pytest.raises(InputError, match=re.escape(f"`{path}:2`: column `positive` names `99`")) as error:
        RetrievalDataset(str(path), corpus=corpus, validation_fraction=0.0)
    assert code_of(error) == ["AM381"]


@pytest.mark.parametrize("empty", [None, [], "", ["  "]])
def test_a_row_without_a_positive_is_named(tmp_path, empty):
    path = write_rows(tmp_path / "a.jsonl", [{"query": "a", "positive": "p"}, {"query": "b", "positive": empty}])
    with pytest.raises(InputError, match=re.escape(f"`{path}:2`")) as error:
        RetrievalDataset(str(path), validation_fraction=0.0)
    assert code_of(error) == ["AM380"]


def test_one_id_for_two_texts_is_an_error(tmp_path):
    corpus = write_rows(tmp_path / "corpus.jsonl", [{"id": 1, "text": "a"}, {"id": 1, "text": "b"}])
    rows = write_rows(tmp_path / "a.jsonl", [{"query": "a", "positive": 1}])
    with pytest.raises(InputError, match=r"corpus\.jsonl:2") as error:
        RetrievalDataset(str(rows), corpus=str(corpus))
    assert code_of(error) == ["AM382"]


def test_an_id_without_a_corpus_says_where_to_name_one(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", [{"query": "a", "positive": {"id": 1}}])
    with pytest.raises(InputError, match="the id `1` without a text"):
        RetrievalDataset(str(path), validation_fraction=0.0)


def test_a_column_that_nobody_mapped_is_asked_for(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", [{"query": "a", "txt": "p"}])
    with pytest.raises(InputError, match="no column is known to hold the positive") as error:
        RetrievalDataset(str(path), validation_fraction=0.0)
    assert code_of(error) == ["AM309"]


def test_what_any_row_says_answers_a_query_is_a_negative_of_it_in_none(tmp_path):
    path = write_rows(
        tmp_path / "a.jsonl",
        [{"query": "a", "positive": "p1", "negatives": ["p2", "n"]}, {"query": "a", "positive": "p2"}],
    )
    data = RetrievalDataset(str(path), validation_fraction=0.0)
    assert data[0].known == (Document("p1"), Document("p2"))
    assert data[0].negatives == (Document("n"),)


def test_equal_queries_are_on_one_side_of_the_split(tmp_path):
    rows = [{"query": f"q{i // 2}", "positive": f"p{i}"} for i in range(40)]
    path = write_rows(tmp_path / "a.jsonl", rows)
    train, held_out = (
        {row.query for row in RetrievalDataset(str(path), split=split, validation_fraction=0.2).rows}
        for split in ("train", "validation")
    )
    assert train
    assert held_out
    assert not train & held_out


def test_draws_are_a_function_of_seed_epoch_and_row(tmp_path):
    rows = [
        {"query": f"q{i}", "positive": [f"p{i}", f"r{i}"], "negatives": [f"n{j}" for j in range(9)]} for i in range(8)
    ]
    path = str(write_rows(tmp_path / "a.jsonl", rows))
    made = [
        RetrievalDataset(path, negatives_per_query=2, random_negatives=1, validation_fraction=0.0) for _ in range(2)
    ]
    first, again = ([data.at(i, e) for e in range(3) for i in range(8)] for data in made)
    assert first == again
    assert made[0].at(0, 0) != made[0].at(0, 1)
    for sample in first:
        assert len(sample.negatives) == 3
        assert not set(sample.known) & set(sample.negatives)
        assert len(set(sample.negatives)) == 3


def test_one_id_of_two_texts_is_refused_with_its_row(tmp_path):
    rows = [{"query": f"q{n}", "positive": {"id": "1", "text": text}} for n, text in enumerate(("a", "a", "b"))]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    with pytest.raises(InputError, match=r"rows\.jsonl:3.: the id .1. is that of another text") as error:
        RetrievalDataset(str(path), split="all")
    assert error.value.diagnostics[0].code == "AM382"
