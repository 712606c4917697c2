import math

import pytest
import torch

from automodel_core.training.schedules import CosineAnnealingWarmup, WarmupDecay


def rates(steps: int, kind=CosineAnnealingWarmup, **kwargs) -> list[float]:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = kind(optimizer, **kwargs)
    taken = []
    for _ in range(steps):
        taken.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return taken


def test_the_rate_warms_up_linearly_from_a_rate_above_zero():
    assert rates(4, warmup_steps=4, total_steps=10) == pytest.approx([0.25, 0.5, 0.75, 1.0])


def test_the_rate_then_follows_half_a_cosine_down_to_the_minimum_at_the_last_step():
    taken = rates(10, warmup_steps=2, min_lr=0.1, total_steps=10)
    expected = [0.1 + 0.9 * (1 + math.cos(math.pi * k / 8)) / 2 for k in range(1, 9)]
    assert taken[2:] == pytest.approx(expected)
    assert taken[-1] == pytest.approx(0.1)


def test_after_the_last_step_the_rate_stays_at_the_minimum():
    assert rates(6, min_lr=0.2, total_steps=4)[4:] == pytest.approx([0.2, 0.2])


def test_a_warm_up_longer_than_the_run_only_warms_up():
    assert rates(3, warmup_steps=50, total_steps=3) == pytest.approx([1 / 50, 2 / 50, 3 / 50])


def test_a_restored_schedule_follows_the_curve_of_the_new_config():
    """More steps are asked of a resumed run: its rates are those of a run that had been asked for them at once."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    short = CosineAnnealingWarmup(optimizer, total_steps=5)
    for _ in range(3):
        optimizer.step()
        short.step()
    other = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    longer = CosineAnnealingWarmup(other, total_steps=10)
    longer.load_state_dict(short.state_dict())
    assert other.param_groups[0]["lr"] == pytest.approx(rates(4, total_steps=10)[3])


@pytest.mark.parametrize("bad", [{"warmup_steps": -1}, {"min_lr": -0.1}])
def test_negative_arguments_are_refused(bad):
    with pytest.raises(ValueError, match="must not be negative"):
        rates(1, total_steps=3, **bad)


@pytest.mark.parametrize("decay", ["constant", "linear", "cosine"])
def test_warm_up_and_decay_follow_their_formula(decay):
    shape = {"constant": lambda p: 1.0, "linear": lambda p: 1 - p, "cosine": lambda p: (1 + math.cos(math.pi * p)) / 2}
    taken = rates(12, WarmupDecay, decay=decay, warmup_steps=4, init_lr=0.2, min_lr=0.1, total_steps=12)
    low = 1.0 if decay == "constant" else 0.1
    warm = [0.2 + 0.8 * s / 4 for s in range(1, 5)]
    assert taken == pytest.approx([*warm, *(low + (1 - low) * shape[decay](k / 8) for k in range(1, 9))])


def test_the_decay_may_end_before_the_run():
    taken = rates(8, WarmupDecay, decay="linear", min_lr=0.5, decay_steps=4, total_steps=8)
    assert taken == pytest.approx([0.875, 0.75, 0.625, 0.5, 0.5, 0.5, 0.5, 0.5])


def test_a_linear_decay_is_torchs():
    taken = rates(6, WarmupDecay, decay="linear", total_steps=6)
    torchs = torch.optim.lr_scheduler.LinearLR
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = torchs(optimizer, start_factor=1.0, end_factor=0.0, total_iters=6)
    expected = []
    for _ in range(6):
        optimizer.step()
        schedule.step()
        expected.append(optimizer.param_groups[0]["lr"])
    assert taken == pytest.approx(expected)


@pytest.mark.parametrize("wrong", [{"warmup_steps": -1}, {"min_lr": -0.1}, {"init_lr": -1.0}, {"decay": "cubic"}])
def test_a_shape_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        rates(1, WarmupDecay, total_steps=3, **wrong)
