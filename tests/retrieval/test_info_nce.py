"""InfoNCE counts every document once, and never one that answers the query."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_retrieval.data.collate import BiEncoderCollate, known_keys
from automodel_retrieval.data.document import Document
from automodel_retrieval.data.sample import RetrievalSample
from automodel_retrieval.losses.info_nce import InfoNCE, negatives_of


def keys(documents):
    return torch.tensor([document.key() for document in documents])


def tokens_of(texts):
    return {"input_ids": torch.tensor([[len(text)] for text in texts])}


def batch_of(samples):
    return BiEncoderCollate(tokens_of, tokens_of)(samples)


def loss_of(batch, logits, **options):
    loss = InfoNCE(**options)
    return loss(logits, batch["positive"], batch["given"], batch["known_keys"], batch["document_keys"])


def sample(query, positive, *negatives):
    return RetrievalSample(query, positive, tuple(negatives), (positive,))


A, B, C, D = (Document(text, text.upper()) for text in ("a", "b", "c", "d"))


def test_it_is_the_cross_entropy_over_all_documents_when_none_is_the_same():
    batch = batch_of([sample("1", A, C), sample("2", B, D)])
    logits = torch.randn(2, 4, generator=torch.Generator().manual_seed(0))
    expected = torch.nn.functional.cross_entropy(logits, batch["positive"], reduction="sum")
    torch.testing.assert_close(loss_of(batch, logits), expected)


def test_without_in_batch_negatives_only_the_given_ones_count():
    batch = batch_of([sample("1", A, C), sample("2", B, D)])
    logits = torch.randn(2, 4, generator=torch.Generator().manual_seed(0))
    expected = sum(
        torch.nn.functional.cross_entropy(logits[i : i + 1, places], torch.tensor([0]))
        for i, places in enumerate(([0, 2], [1, 3]))
    )
    torch.testing.assert_close(loss_of(batch, logits, in_batch_negatives=False), expected)


@pytest.mark.parametrize("duplicate", [Document("b", "other id"), Document("other text", "B"), Document(" b "), B])
def test_a_duplicate_of_a_positive_in_another_row_leaves_the_loss_of_that_query_as_it_was(duplicate):
    """Whether it is known by its id or by its text."""
    embeddings = {d: torch.randn(3, generator=torch.Generator().manual_seed(n)) for n, d in enumerate((A, B, C, D))}
    embeddings[duplicate] = embeddings[B]
    query = torch.tensor([[0.3, -1.0, 0.5], [0.1, 0.2, 0.9]])
    documents = [A, B, C, D]

    def loss(documents):
        given = torch.zeros(2, len(documents), dtype=torch.bool)
        logits = query @ torch.stack([embeddings[d] for d in documents]).T
        known = torch.tensor([[A.key()], [B.key()]])
        negatives = negatives_of(torch.tensor([0, 1]), given, known, keys(documents), in_batch=True)
        assert not negatives[1, [i for i, d in enumerate(documents) if d in (B, duplicate)]].any()
        return InfoNCE()(logits, torch.tensor([0, 1]), given, known, keys(documents))

    torch.testing.assert_close(loss([*documents, duplicate]), loss(documents))


def test_every_known_positive_of_a_query_is_spared_not_only_the_one_it_has_now():
    row = RetrievalSample("1", A, (), (A, B))
    batch = batch_of([row, sample("2", B), sample("3", C)])
    negatives = negatives_of(
        batch["positive"], batch["given"], batch["known_keys"], batch["document_keys"], in_batch=True
    )
    assert negatives.tolist() == [[False, False, True], [True, False, True], [True, True, False]]


def test_two_rows_with_the_same_positive_share_one_document():
    batch = batch_of([sample("1", A), sample("2", A), sample("3", B)])
    assert batch["document_keys"].shape == (2, 2)
    assert batch["positive"].tolist() == [0, 0, 1]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=6), st.integers(0, 1000))
def test_the_loss_of_a_batch_with_repeats_is_that_of_the_batch_without(numbers, seed):
    """The documents of a batch may repeat as they do after gathering from several processes."""
    documents = [Document(str(n)) for n in numbers]
    draw = torch.Generator().manual_seed(seed)
    of_text = torch.randn(6, 4, generator=draw)
    queries = torch.randn(len(numbers), 4, generator=draw)
    known = known_keys([RetrievalSample("q", d, (), ()) for d in documents])
    distinct = sorted(set(numbers))
    total = InfoNCE()(
        queries @ of_text[numbers].T,
        torch.arange(len(numbers)),
        torch.zeros(len(numbers), len(numbers), dtype=torch.bool),
        known,
        keys(documents),
    )
    expected = torch.nn.functional.cross_entropy(
        queries @ of_text[distinct].T, torch.tensor([distinct.index(n) for n in numbers]), reduction="sum"
    )
    torch.testing.assert_close(total, expected)


def test_symmetric_is_the_mean_of_both_directions():
    batch = batch_of([sample("1", A), sample("2", B), sample("3", C)])
    logits = torch.randn(3, 3, generator=torch.Generator().manual_seed(1))
    target = torch.arange(3)
    ways = [torch.nn.functional.cross_entropy(m, target, reduction="sum") for m in (logits, logits.T)]
    torch.testing.assert_close(loss_of(batch, logits, symmetric=True), sum(ways) / 2)
