import pytest
import torch
from torch import nn

from automodel_core.errors import RunFailedError
from automodel_core.training.gradients import scale_grads_and_clip_grad_norm


def model_with_gradients(scale: float = 1.0) -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
    (model(torch.randn(3, 4)).square().sum() * scale).backward()
    return model


@pytest.mark.parametrize("max_norm", [0.1, 1.0, 1e6])
def test_clipping_equals_torch_s_own(max_norm):
    ours, theirs = model_with_gradients(), model_with_gradients()
    norms = scale_grads_and_clip_grad_norm(ours, max_norm)
    before = torch.nn.utils.clip_grad_norm_(theirs.parameters(), max_norm)
    assert norms.before == pytest.approx(float(before))
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(a.grad, b.grad)
    after = torch.nn.utils.get_total_norm([p.grad for p in ours.parameters()])
    assert norms.after == pytest.approx(float(after), rel=1e-5)


def test_no_maximum_only_measures():
    model = model_with_gradients()
    expected = [p.grad.clone() for p in model.parameters()]
    norms = scale_grads_and_clip_grad_norm(model, None)
    assert norms.before == norms.after > 0
    assert all(torch.equal(p.grad, e) for p, e in zip(model.parameters(), expected, strict=True))


def test_scaling_comes_before_clipping():
    scaled = scale_grads_and_clip_grad_norm(model_with_gradients(), None, scale=0.5)
    assert scaled.before == pytest.approx(scale_grads_and_clip_grad_norm(model_with_gradients(), None).before / 2)


def test_a_parameter_without_gradient_is_left_out_and_no_gradient_is_a_norm_of_zero():
    model = nn.Linear(2, 2)
    assert scale_grads_and_clip_grad_norm(model, 1.0).before == 0.0


@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_names_its_parameter(poison):
    model = model_with_gradients()
    model[1].bias.grad[0] = poison
    with pytest.raises(RunFailedError, match=r"`1\.bias` is not finite"):
        scale_grads_and_clip_grad_norm(model, 1.0)
