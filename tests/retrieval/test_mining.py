"""Search and selection, against loops that do the same by hand."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_retrieval.mining.search import nearest
from automodel_retrieval.mining.selection import Filters, counts_of, select


@pytest.mark.parametrize("backend", ["torch", "faiss"])
def test_both_searches_find_what_a_sort_finds(backend):
    pytest.importorskip(backend)
    draw = torch.Generator().manual_seed(0)
    queries, documents = torch.randn(9, 16, generator=draw), torch.randn(50, 16, generator=draw)
    scores, places = nearest(queries, documents, 7, backend)
    expected = (queries @ documents.T).argsort(dim=1, descending=True)[:, :7]
    assert torch.equal(places, expected)
    torch.testing.assert_close(scores, (queries @ documents.T).gather(1, expected))
    assert nearest(queries, documents, 500, backend)[0].shape == (9, 50)


def test_both_searches_give_the_same_numbers():
    pytest.importorskip("faiss")
    draw = torch.Generator().manual_seed(1)
    queries, documents = torch.randn(40, 8, generator=draw), torch.randn(300, 8, generator=draw)
    for one, other in zip(
        nearest(queries, documents, 20, "torch"), nearest(queries, documents, 20, "faiss"), strict=True
    ):
        assert torch.equal(one, other)


def test_margins_are_measured_from_the_positive():
    scores = [0.95, 0.9, 0.8, 0.72, 0.5]
    chosen = select([4, 0, 1, 2, 3], scores, 0.9, {0}, Filters(2, absolute_margin=0.05, relative_margin=0.15))
    assert chosen.known_positive == 1
    assert chosen.above_absolute_margin == 1  # 0.95 > 0.85
    assert chosen.above_relative_margin == 1  # 0.80 > 0.765
    assert chosen.negatives == (2, 3)
    assert select([1], [-0.5], -0.4, (), Filters(1, relative_margin=0.5)).above_relative_margin == 1
    assert select([1], [-0.5], -0.4, (), Filters(1, relative_margin=0.1)).negatives == (1,)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.floats(-1, 1)), unique_by=lambda pair: pair[0], max_size=15),
    st.floats(-1, 1),
    st.sets(st.integers(0, 30)),
    st.integers(1, 5),
    st.integers(0, 3),
    st.none() | st.floats(0, 0.5),
    st.none() | st.floats(0, 0.5),
)
def test_every_candidate_is_counted_once_and_no_known_positive_is_chosen(
    candidates, positive, known, wanted, skipped, absolute, relative
):
    candidates.sort(key=lambda pair: -pair[1])
    places, scores = [p for p, _ in candidates], [s for _, s in candidates]
    chosen = select(places, scores, positive, known, Filters(wanted, skipped, absolute, relative))
    assert counts_of([chosen], wanted)["candidates"] == len(candidates)
    assert not set(chosen.negatives) & known
    assert len(chosen.negatives) <= wanted
    for score in chosen.scores:
        assert absolute is None or score <= positive - absolute
        assert relative is None or score <= positive - abs(positive) * relative
