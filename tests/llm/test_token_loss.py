import pytest
import torch
from torch import nn
from torch.nn import functional as F

from automodel_llm.losses.token_loss import as_sum


def case():
    torch.manual_seed(0)
    logits = torch.randn(2, 5, 11)
    labels = torch.randint(0, 11, (2, 5))
    labels[0, :3] = -100
    return logits, labels


def test_cross_entropy_written_as_a_mean_is_taken_as_a_sum():
    logits, labels = case()
    expected = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
    assert torch.equal(as_sum(nn.CrossEntropyLoss())(logits, labels), expected)
    assert torch.equal(as_sum(nn.CrossEntropyLoss(reduction="sum"))(logits, labels), expected)


def test_any_other_callable_is_a_mean_over_supervised_tokens():
    logits, labels = case()
    own = as_sum(lambda x, y: F.cross_entropy(x, y))
    expected = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
    assert float(own(logits, labels)) == pytest.approx(float(expected), rel=1e-6)


@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss(), lambda x, y: F.cross_entropy(x, y)])
def test_nothing_supervised_is_a_loss_of_zero_with_finite_gradients(loss):
    logits, labels = case()
    logits.requires_grad_()
    total = as_sum(loss)(logits, torch.full_like(labels, -100))
    total.backward()
    assert float(total) == 0.0
    assert torch.equal(logits.grad, torch.zeros_like(logits))


def test_a_reduction_that_gives_no_scalar_is_refused():
    with pytest.raises(ValueError, match="gives no scalar"):
        as_sum(nn.CrossEntropyLoss(reduction="none"))


def test_half_precision_logits_are_taken_in_float32():
    logits, labels = case()
    half = logits.bfloat16()
    assert torch.equal(as_sum(nn.CrossEntropyLoss())(half, labels), as_sum(nn.CrossEntropyLoss())(half.float(), labels))
