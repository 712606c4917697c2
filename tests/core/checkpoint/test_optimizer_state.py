import copy

import pytest
import torch
from torch import nn

from automodel_core.checkpoint.optimizer_state import load_optimizer, read_optimizer


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def step(net, optimizer, seed):
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(seed))
    net(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def makers():
    return {
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.1),
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        "plain sgd": lambda p: torch.optim.SGD(p, lr=0.1),
        "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
        "amsgrad": lambda p: torch.optim.Adam(p, lr=torch.tensor(0.1), amsgrad=True),
    }


@pytest.mark.parametrize("kind", makers())
def test_a_restored_optimizer_takes_the_same_steps(kind):
    net = model()
    optimizer = makers()[kind](net.parameters())
    for seed in range(3):
        step(net, optimizer, seed)
    other = copy.deepcopy(net)
    restored = makers()[kind](other.parameters())
    load_optimizer(other, restored, copy.deepcopy(read_optimizer(net, optimizer)))
    for seed in range(3, 6):
        step(net, optimizer, seed)
        step(other, restored, seed)
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)


def test_state_is_named_by_parameter_and_not_by_position():
    net = model()
    optimizer = torch.optim.AdamW([{"params": net[2].parameters(), "lr": 1.0}, {"params": net[0].parameters()}])
    step(net, optimizer, 0)
    saved = read_optimizer(net, optimizer)
    assert "2.weight:exp_avg" in saved.tensors
    assert saved.groups[0]["params"] == ["2.weight", "2.bias"]
    assert saved.groups[0]["lr"] == 1.0


def test_other_parameters_are_refused_by_name():
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    step(net, optimizer, 0)
    saved = read_optimizer(net, optimizer)
    fewer = torch.optim.AdamW(net[0].parameters())
    with pytest.raises(ValueError, match=r"2\.bias"):
        load_optimizer(net, fewer, saved)
