"""Initial values are a function of seed, name and position only."""

from __future__ import annotations

import pytest
import torch

from automodel_core.infrastructure.weights import constant, normal, ones, uniform, zeros
from automodel_core.infrastructure.weights.initialisers import BLOCK_ELEMENTS, Draw

SHAPE = torch.Size((600, 2500))  # more than one block, and rows that end inside blocks
DRAWS = [normal(0.5, 2.0), uniform(-1.0, 3.0), constant(7.0), Draw("normal", 0.0, 1.0, rows=((3, 5, 0.0),))]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(
    "index",
    [
        (slice(0, 600), slice(0, 2500)),
        (slice(417, 421), slice(0, 2500)),
        (slice(2, 600), slice(1200, 1203)),
        (slice(5, 5), slice(0, 2500)),
    ],
)
def test_a_slice_is_the_slice_of_the_whole(draw, index):
    values = draw.source(1, "w", SHAPE, torch.float32).tensor()
    assert SHAPE.numel() > BLOCK_ELEMENTS
    assert torch.equal(draw.source(1, "w", SHAPE, torch.float32).read(index), values[index])


def test_the_order_of_reading_does_not_matter():
    source = normal(0.0, 1.0).source(1, "w", SHAPE, torch.float32)
    last = source.read((slice(590, 600), slice(0, 2500)))
    first = source.read((slice(0, 10), slice(0, 2500)))
    again = normal(0.0, 1.0).source(1, "w", SHAPE, torch.float32).tensor()
    assert torch.equal(torch.cat([first, last]), torch.cat([again[:10], again[590:]]))


def test_seed_and_name_change_the_values():
    def values(seed, name):
        return normal(0.0, 1.0).source(seed, name, torch.Size((8,)), torch.float32).tensor()

    assert torch.equal(values(1, "a"), values(1, "a"))
    assert not torch.equal(values(1, "a"), values(2, "a"))
    assert not torch.equal(values(1, "a"), values(1, "b"))


def test_the_global_random_state_is_left_alone():
    before = torch.get_rng_state()
    normal(0.0, 1.0).source(1, "a", torch.Size((8,)), torch.float32).tensor()
    assert torch.equal(torch.get_rng_state(), before)


def test_distributions_have_their_moments():
    drawn = normal(1.0, 2.0).source(0, "n", torch.Size((300, 300)), torch.float32).tensor()
    assert drawn.mean().item() == pytest.approx(1.0, abs=0.03)
    assert drawn.std().item() == pytest.approx(2.0, abs=0.03)
    flat = uniform(-1.0, 3.0).source(0, "u", torch.Size((300, 300)), torch.float32).tensor()
    assert flat.mean().item() == pytest.approx(1.0, abs=0.03)
    assert -1.0 <= flat.min().item() < -0.99
    assert 2.99 < flat.max().item() < 3.0
    assert zeros().source(0, "z", torch.Size((3,)), torch.float32).tensor().tolist() == [0, 0, 0]
    assert ones().source(0, "o", torch.Size(()), torch.float32).tensor().item() == 1


def test_half_precision_is_the_cast_of_full_precision():
    full = normal(0.0, 1.0).source(0, "w", torch.Size((9, 9)), torch.float32).tensor()
    half = normal(0.0, 1.0).source(0, "w", torch.Size((9, 9)), torch.bfloat16).tensor()
    assert torch.equal(half, full.to(torch.bfloat16))
