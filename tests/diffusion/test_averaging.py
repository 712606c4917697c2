"""The average of the weights, against its formula."""

import pytest
import torch
from torch import nn

from automodel_diffusion.averaging import WeightAverage


def trained(decay, warmup, steps):
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    average = WeightAverage(model, optimizer, decay=decay, warmup=warmup)
    history = [model.weight.detach().clone()]
    for _ in range(steps):
        model(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        history.append(model.weight.detach().clone())
    return model, average, history


@pytest.mark.parametrize("warmup", [False, True])
def test_it_is_the_exponential_average_of_the_weights_after_each_step(warmup):
    _, average, history = trained(0.8, warmup, 5)
    expected = history[0]
    for step, weight in enumerate(history[1:], 1):
        decay = min(0.8, (1 + step) / (10 + step)) if warmup else 0.8
        expected = decay * expected + (1 - decay) * weight
    assert torch.allclose(average.over({})["weight"], expected, atol=1e-6)


def test_the_model_has_the_average_meanwhile_and_its_own_weights_afterwards_after_an_error_too():
    model, average, history = trained(0.8, False, 3)
    shown = average.over({})["weight"].clone()
    seen = []

    def fail():
        with average.shown():
            seen.append(model.weight.detach().clone())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert torch.equal(seen[0], shown)
    assert torch.equal(model.weight, history[-1])


def test_its_state_brings_the_average_and_the_trained_weights_back():
    _, average, history = trained(0.8, True, 4)
    state = {name: tensor.detach().clone() for name, tensor in average.state_dict().items()}
    model, other, _ = trained(0.8, True, 1)
    other.load_state_dict(state)
    assert torch.equal(model.weight, history[-1])
    assert torch.equal(other.over({})["weight"], average.over({})["weight"])
    assert other.steps == 4
