import random

import numpy as np
import torch

from automodel_core.training.random_state import random_state, restore_random_state, seed_everything


def draw() -> tuple:
    return random.random(), float(np.random.rand()), float(np.random.randn()), torch.rand(3).tolist()


def test_restoring_repeats_every_generator():
    seed_everything(3)
    draw()
    tensors, values = random_state()
    expected = draw()
    draw()
    restore_random_state(tensors, values)
    assert draw() == expected


def test_a_seed_decides_every_generator():
    seed_everything(5)
    first = draw()
    seed_everything(5)
    assert draw() == first
    seed_everything(6)
    assert draw() != first
