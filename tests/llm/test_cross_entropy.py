"""The summed cross-entropy is torch's, with a gradient that takes the place of the log-probabilities."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from automodel_llm.losses.cross_entropy import summed_cross_entropy
from automodel_llm.losses.token_loss import as_sum


def gradient_of(loss_of, logits, labels, factor=1.0):
    leaf = logits.clone().requires_grad_()
    loss = loss_of(leaf, labels)
    (loss * factor).backward()
    return loss.detach(), leaf.grad


def torch_s_own(logits, labels):
    return functional.cross_entropy(logits, labels, reduction="sum")


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**31),
    rows=st.integers(1, 9),
    vocabulary=st.integers(1, 40),
    ignored=st.floats(0, 1),
    size=st.sampled_from([1e-3, 1.0, 50.0]),
    factor=st.sampled_from([1.0, 1 / 7, -3.0]),
)
def test_loss_and_gradient_equal_torch_s(seed, rows, vocabulary, ignored, size, factor):
    generator = torch.Generator().manual_seed(seed)
    logits = size * torch.randn(rows, vocabulary, generator=generator)
    labels = torch.randint(vocabulary, (rows,), generator=generator)
    labels[torch.rand(rows, generator=generator) < ignored] = -100
    loss, gradient = gradient_of(summed_cross_entropy, logits, labels, factor)
    expected, expected_gradient = gradient_of(torch_s_own, logits, labels, factor)
    assert torch.equal(loss, expected)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-6, atol=1e-6 * abs(factor))


def test_logits_are_left_as_they_were():
    logits = torch.randn(4, 5, requires_grad=True)
    kept = logits.detach().clone()
    summed_cross_entropy(logits, torch.tensor([0, -100, 2, 4])).backward()
    assert torch.equal(logits, kept)


def test_a_second_backward_pass_is_refused_rather_than_wrong():
    loss = summed_cross_entropy(torch.randn(2, 3, requires_grad=True), torch.tensor([0, 1]))
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize(
    "keywords", [{"label_smoothing": 0.1}, {"ignore_index": 0}, {"weight": torch.arange(1.0, 6.0)}]
)
def test_other_settings_of_the_loss_keep_their_meaning(keywords):
    logits, labels = torch.randn(4, 5), torch.tensor([0, 1, 2, 4])
    expected = nn.CrossEntropyLoss(**keywords, reduction="sum")(logits, labels)
    assert torch.equal(as_sum(nn.CrossEntropyLoss(**keywords))(logits, labels), expected)
