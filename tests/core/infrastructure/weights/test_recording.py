"""What a model's initialisation code does is understood on meta, or else run again for real."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from automodel_core.infrastructure.weights.initialisers import Draw, FromGenerator
from automodel_core.infrastructure.weights.recording import InitialisationStep, record_initialisers


def recorded(model, initialise):
    steps = [InitialisationStep(name, module, initialise) for name, module in model.named_modules()]
    return record_initialisers(model, steps[::-1], {})


def on_meta(*layers):
    with torch.device("meta"):
        return nn.Sequential(*[make() for make in layers])


def test_elementary_draws_are_understood():
    model = on_meta(lambda: nn.Linear(4, 3))

    def initialise(module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)

    got = recorded(model, initialise)
    assert got == {"0.weight": Draw("normal", 0.0, 0.02), "0.bias": Draw("constant", 0.0)}


def test_torch_layers_own_initialisation_is_understood():
    model = on_meta(lambda: nn.Linear(4, 3))
    got = recorded(model, lambda module: module.reset_parameters() if isinstance(module, nn.Linear) else None)
    assert got["0.weight"].base == "uniform"
    assert got["0.weight"].second == pytest.approx(0.5)


def test_operations_after_a_draw_are_repeated():
    model = on_meta(lambda: nn.Linear(40, 30, bias=False))

    def initialise(module):
        if isinstance(module, nn.Linear):
            module.weight.uniform_(-1, 1).mul_(0.5).clamp_(min=-0.25, max=0.25)

    values = recorded(model, initialise)["0.weight"].source(0, "w", torch.Size((30, 40)), torch.float32).tensor()
    assert values.abs().max().item() == 0.25
    assert (values.abs() < 0.25).any()


def test_a_padding_row_is_zero():
    model = on_meta(lambda: nn.Embedding(6, 4, padding_idx=2))

    def initialise(module):
        if isinstance(module, nn.Embedding):
            module.weight.normal_()
            nn.init.zeros_(module.weight[module.padding_idx])

    initialiser = recorded(model, initialise)["0.weight"]
    assert isinstance(initialiser, Draw)
    values = initialiser.source(0, "w", torch.Size((6, 4)), torch.float32).tensor()
    assert (values == 0).all(dim=1).tolist() == [False, False, True, False, False, False]


def test_a_later_draw_replaces_an_earlier_one():
    model = on_meta(lambda: nn.Linear(4, 3, bias=False))

    def initialise(module):
        if isinstance(module, nn.Linear):
            module.weight.normal_()
            module.weight.fill_(2.0)

    assert recorded(model, initialise) == {"0.weight": Draw("constant", 2.0)}


def truncated(module):
    if isinstance(module, nn.Linear):
        module.weight.normal_()  # what a base class would have done before
        nn.init.trunc_normal_(module.weight, std=1.0, a=-0.5, b=0.5)


def by_values(module):
    if isinstance(module, nn.Linear):
        module.weight.copy_(torch.log(torch.arange(1.0, 13.0)).reshape(3, 4))


def rescaled(module):
    if isinstance(module, nn.Linear):
        nn.init.kaiming_uniform_(module.weight, a=math.sqrt(5))
        module.weight.copy_(module.weight / 10)


def asks_for_values(module):
    if isinstance(module, nn.Linear):
        module.weight.normal_()
        module.weight.div_(float(module.weight.abs().max()))


@pytest.mark.parametrize(
    ("initialise", "holds"),
    [
        (truncated, lambda w: w.abs().max() <= 0.5 and w.std() > 0.1),
        (by_values, lambda w: torch.equal(w, torch.log(torch.arange(1.0, 13.0)).reshape(3, 4))),
        (rescaled, lambda w: 0 < w.abs().max() <= 0.05),
        (asks_for_values, lambda w: w.abs().max() == 1.0),
    ],
)
def test_anything_else_is_run_again_for_real(initialise, holds):
    model = on_meta(lambda: nn.Linear(4, 3, bias=False))
    initialiser = recorded(model, initialise)["0.weight"]
    assert isinstance(initialiser, FromGenerator)
    first = initialiser.source(3, "0.weight", torch.Size((3, 4)), torch.float32).tensor()
    again = initialiser.source(3, "0.weight", torch.Size((3, 4)), torch.float32)
    assert holds(first)
    assert torch.equal(again.read((slice(1, 2), slice(0, 4))), first[1:2])


def test_running_again_depends_on_the_seed_and_leaves_no_trace():
    model = on_meta(lambda: nn.Linear(4, 3, bias=False))
    initialiser = recorded(model, rescaled)["0.weight"]
    before = torch.get_rng_state()
    values = [initialiser.source(seed, "w", torch.Size((3, 4)), torch.float32).tensor() for seed in (0, 0, 1)]
    assert torch.equal(values[0], values[1])
    assert not torch.equal(values[0], values[2])
    assert torch.equal(torch.get_rng_state(), before)
    assert model[0].weight.is_meta


def test_an_outer_module_that_changes_an_inner_weight_is_understood():
    """NemotronH rescales ``out_proj.weight`` from the mixer that holds the layer."""
    model = on_meta(lambda: nn.Linear(4, 3, bias=False))

    def initialise(module):
        if isinstance(module, nn.Linear):
            module.weight.fill_(8.0)
        else:
            for name, weight in module.named_parameters():
                if name == "0.weight":
                    weight.copy_(weight / 4)

    initialiser = recorded(model, initialise)["0.weight"]
    values = initialiser.source(0, "0.weight", torch.Size((3, 4)), torch.float32).tensor()
    assert (values == 2.0).all()


def test_a_tied_weight_starts_as_its_owner_says():
    with torch.device("meta"):
        model = nn.ModuleDict({"embed": nn.Embedding(5, 4), "head": nn.Linear(4, 5, bias=False)})
    model["head"].weight = model["embed"].weight
    steps = [
        InitialisationStep("embed", model["embed"], lambda module: module.weight.fill_(1.0)),
        InitialisationStep("head", model["head"], lambda module: module.weight.fill_(2.0)),
    ]
    got = record_initialisers(model, steps, {"head.weight": "embed.weight"})
    assert got == {"embed.weight": Draw("constant", 1.0)}


def test_what_nobody_initialises_has_no_initialiser():
    model = on_meta(lambda: nn.Linear(4, 3))
    assert recorded(model, lambda module: None) == {}
