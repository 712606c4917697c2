"""Figures of rankings against the formulas written out."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_retrieval.data.document import Document
from automodel_retrieval.evaluation.ranking import ranking_metrics, ranks_of
from automodel_retrieval.evaluation.retrieving import ranks_in_corpus, relevant_places


def by_brute_force(scores, relevant, k):
    recall = rr = ndcg = 0.0
    for row, wanted in zip(scores, relevant, strict=True):
        order = sorted(range(len(row)), key=lambda i: (-row[i], i))
        recall += len(set(order[:k]) & wanted) / len(wanted)
        rr += next(1 / (place + 1) for place, i in enumerate(order) if i in wanted)
        gains = sum(1 / math.log2(place + 2) for place, i in enumerate(order[:k]) if i in wanted)
        ndcg += gains / sum(1 / math.log2(place + 2) for place in range(min(k, len(wanted))))
    return {f"recall@{k}": recall / len(scores), "mrr": rr / len(scores), f"ndcg@{k}": ndcg / len(scores)}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_they_are_what_the_formulas_give_also_with_ties(data):
    documents = data.draw(st.integers(1, 9))
    rows = data.draw(
        st.lists(st.lists(st.integers(0, 4), min_size=documents, max_size=documents), min_size=1, max_size=4)
    )
    relevant = [data.draw(st.sets(st.integers(0, documents - 1), min_size=1)) for _ in rows]
    k = data.draw(st.integers(1, 10))
    ranks = [ranks_of(torch.tensor(row, dtype=torch.float), sorted(w)) for row, w in zip(rows, relevant, strict=True)]
    found, expected = ranking_metrics(ranks, [k]), by_brute_force(rows, relevant, k)
    assert found.keys() == expected.keys()
    assert all(abs(found[name] - expected[name]) < 1e-9 for name in expected)


def test_the_whole_corpus_is_searched_for_every_document_that_answers_a_query():
    corpus = [Document(text, text) for text in "abcd"]
    relevant = relevant_places({"q": (Document("c"), Document("other", "a"))}, corpus)
    assert relevant == [[0, 2]]
    queries, vectors = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.2, 0.0], [0.9, 0.0], [0.5, 0.0], [0.0, 1.0]])
    assert list(ranks_in_corpus(queries, vectors, relevant)) == [[2, 3]]
