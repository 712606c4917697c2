"""Noise levels, their shift and their weight, against closed forms."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from automodel_diffusion.config import FlowMatching
from automodel_diffusion.flow.draws import draw
from automodel_diffusion.flow.noise_levels import draw_noise_level, loss_weight, mode_level, shift_level


def levels(settings, count=4000):
    generator = torch.Generator().manual_seed(0)
    return torch.tensor([draw_noise_level(settings, generator) for _ in range(count)])


def test_the_logit_of_a_logit_normal_level_has_the_mean_and_deviation_asked_for():
    logits = torch.logit(levels(FlowMatching(timestep_sampling="logit_normal", logit_mean=0.5, logit_std=0.7)))
    assert logits.mean() == pytest.approx(0.5, abs=0.04)
    assert logits.std() == pytest.approx(0.7, abs=0.04)


def test_uniform_levels_fill_the_interval_evenly():
    found = levels(FlowMatching(timestep_sampling="uniform"))
    assert torch.histc(found, 4, 0, 1).tolist() == pytest.approx([1000] * 4, abs=110)


def test_mode_sampling_prefers_the_middle_and_is_uniform_at_scale_zero():
    found = levels(FlowMatching(timestep_sampling="mode"))
    counts = torch.histc(found, 5, 0, 1)
    assert counts[2] > counts[0]
    assert counts[2] > counts[4]
    assert mode_level(0.3, 0.0) == pytest.approx(0.7)


@given(st.floats(0.01, 0.99), st.floats(0.2, 10))
def test_a_shift_keeps_the_ends_and_moves_the_odds(level, shift):
    """The odds of noise against data are multiplied by the shift: that is its closed form."""
    moved = shift_level(level, shift)
    assert moved / (1 - moved) == pytest.approx(shift * level / (1 - level), rel=1e-9)
    assert (shift_level(0.0, shift), shift_level(1.0, shift)) == (0.0, pytest.approx(1.0))


@pytest.mark.parametrize("weighting", ["none", "sigma_sqrt", "cosmap"])
def test_a_weight_is_a_function_of_the_level_alone(weighting):
    settings = FlowMatching(weighting=weighting)
    at = torch.linspace(0.05, 0.95, 7)
    torch.manual_seed(0)
    first = loss_weight(settings, at)
    torch.manual_seed(1)
    assert torch.equal(first, loss_weight(settings, at))
    assert torch.equal(first[2:3], loss_weight(settings, at[2:3]))


def test_weights_have_the_values_of_their_formulas():
    half = torch.tensor([0.5])
    assert float(loss_weight(FlowMatching(weighting="sigma_sqrt"), half)) == pytest.approx(4.0)
    assert float(loss_weight(FlowMatching(weighting="cosmap"), half)) == pytest.approx(4 / math.pi)


def test_a_sample_s_draws_depend_on_its_seed_and_on_nothing_beside_it():
    settings = FlowMatching(condition_dropout=0.5)
    together = draw(settings, torch.tensor([5, 6, 7]), torch.Size((1, 4, 4)))
    alone = draw(settings, torch.tensor([6]), torch.Size((1, 4, 4)))
    assert torch.equal(together.noise[1:2], alone.noise)
    assert torch.equal(together.levels[1:2], alone.levels)
    assert torch.equal(together.drop[1:2], alone.drop)


def test_the_share_of_dropped_conditions_is_the_one_asked_for():
    drops = draw(FlowMatching(condition_dropout=0.25), torch.arange(4000), torch.Size((1,))).drop
    assert drops.float().mean() == pytest.approx(0.25, abs=0.03)
