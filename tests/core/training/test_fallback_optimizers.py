"""Optimizers that stand in for others: the same step as torch's own, and nothing ignored that changes it."""

import pytest
import torch

from automodel_core.training.fallback_optimizers import flash_adamw, fused_adam

SETTINGS = {"lr": 0.1, "betas": [0.8, 0.9], "eps": 1e-6, "weight_decay": 0.3}


def after_three_steps(make, **more):
    weight = torch.nn.Parameter(torch.linspace(-1, 1, 6).reshape(2, 3))
    optimizer = make([weight], **SETTINGS, **more)
    for step in range(1, 4):
        weight.grad = torch.full_like(weight, 0.5) * step
        optimizer.step()
    return weight.detach()


@pytest.mark.parametrize(
    ("stand_in", "more", "torchs"),
    [
        (
            fused_adam,
            {"adam_w_mode": True, "master_weights": True, "exp_avg_dtype": "torch.float32"},
            torch.optim.AdamW,
        ),
        (fused_adam, {"adam_w_mode": False}, torch.optim.Adam),
        (flash_adamw, {"master_weight_bits": 24, "compress_state_dict": False}, torch.optim.AdamW),
    ],
)
def test_the_step_is_torchs(stand_in, more, torchs):
    assert torch.equal(after_three_steps(stand_in, **more), after_three_steps(torchs))


def test_what_torch_cannot_do_is_refused():
    with pytest.raises(ValueError, match="bias_correction"):
        after_three_steps(fused_adam, bias_correction=False)
