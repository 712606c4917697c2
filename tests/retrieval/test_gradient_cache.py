"""Cached gradients are those of the whole batch at once, dropout included."""

import copy

import pytest
import torch
from retrieval_made import WORDS, make_encoder
from transformers import AutoModel, AutoTokenizer

from automodel_retrieval.models.bi_encoder import BiEncoder
from automodel_retrieval.models.temperature import Temperature
from automodel_retrieval.recipes.gradient_cache import RandomState, cached_backward

CPU = torch.device("cpu")


@pytest.fixture
def batch_and_model(request, tmp_path):
    directory = make_encoder(tmp_path, dropout=request.param)
    tokenizer = AutoTokenizer.from_pretrained(directory)

    def tokens(count, length):
        texts = [" ".join(WORDS[(i * 5 + j) % len(WORDS)] for j in range(1 + (i + length) % 6)) for i in range(count)]
        encoded = tokenizer(texts, padding=True, return_tensors="pt")
        return {key: encoded[key] for key in ("input_ids", "attention_mask")}

    model = BiEncoder(
        AutoModel.from_pretrained(directory),
        None,
        pooling="mean",
        normalize=True,
        temperature=Temperature(0.1, learned=True),
    )
    return {"query": tokens(7, 0), "document": tokens(11, 3)}, model.train()


def loss_of(model):
    def loss(queries, documents):
        logits = model.temperature.scaled(queries @ documents.T)
        return torch.nn.functional.cross_entropy(logits, torch.arange(len(queries)), reduction="sum")

    return loss


def gradients(model):
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def directly(model, batch, chunk):
    """One graph over all chunks, whose dropout is drawn in the same order."""
    parts = {}
    for side in ("query", "document"):
        rows = [
            model(**{side: {k: v[i : i + chunk] for k, v in batch[side].items()}})[0 if side == "query" else 1]
            for i in range(0, len(batch[side]["input_ids"]), chunk)
        ]
        parts[side] = torch.cat(rows)
    total = loss_of(model)(parts["query"], parts["document"])
    (total / 7).backward()
    return total.detach()


@pytest.mark.parametrize("batch_and_model", [0.0, 0.3], indirect=True)
@pytest.mark.parametrize("chunk", [1, 4, 100])
def test_gradients_are_those_of_one_graph(batch_and_model, chunk):
    batch, model = batch_and_model
    other = copy.deepcopy(model)
    torch.manual_seed(3)
    expected = directly(other, batch, chunk)
    end = torch.get_rng_state()
    torch.manual_seed(3)
    found = cached_backward(model, batch, chunk, CPU, loss_of(model), 7.0)
    assert torch.equal(torch.get_rng_state(), end)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-6)
    ours, theirs = gradients(model), gradients(other)
    assert ours.keys() == theirs.keys()
    assert "temperature.log_inverse" in ours
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], atol=1e-6, rtol=1e-5, msg=name)


def test_the_generator_comes_back():
    before = RandomState.now(CPU)
    first = torch.rand(3)
    before.restore()
    assert torch.equal(torch.rand(3), first)
