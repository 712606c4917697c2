import math

import pytest
import torch

from automodel_core.training.schedules import CosineAnnealingWarmup


def rates(steps: int, **kwargs) -> list[float]:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = CosineAnnealingWarmup(optimizer, **kwargs)
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
