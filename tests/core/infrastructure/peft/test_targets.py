"""Which layers ``target_modules`` means."""

from __future__ import annotations

import pytest
from torch import nn

from automodel_core.errors import InputError
from automodel_core.infrastructure.peft import match_targets


class Router(nn.Linear):
    """A subclass with its own forward, as some routers are."""


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [
                nn.ModuleDict(
                    {"q_proj": nn.Linear(2, 2), "up": nn.Linear(2, 2), "norm": nn.LayerNorm(2), "router": Router(2, 2)}
                )
                for _ in range(2)
            ]
        )
        self.mixer = nn.ModuleDict({"out_proj": nn.Linear(2, 2)})
        self.fused = nn.ParameterDict({"gate_up_proj": nn.Parameter(nn.Linear(2, 2).weight.detach())})
        self.lm_head = nn.Linear(2, 2)


BYPASSED = {"mixer.out_proj": "a kernel reads its weight"}


def match(targets, exclude=()):
    return match_targets(Model(), targets, exclude, output_head="lm_head", bypassed=BYPASSED, span_of=lambda path: None)


def said(targets, exclude=()):
    with pytest.raises(InputError) as caught:
        match(targets, exclude)
    return caught.value.diagnostics


ALL = ("layers.0.q_proj", "layers.0.up", "layers.1.q_proj", "layers.1.up")


@pytest.mark.parametrize(
    ("targets", "names"),
    [
        ("all-linear", ALL),
        ("q_proj", ALL[::2]),
        (["up", "q_proj"], ALL),
        (["0.q_proj"], ALL[:1]),
        (["layers.1.up"], ALL[3:]),
        (["layers.1.*"], ALL[2:]),
        (["*proj"], ALL[::2]),
        (["layers.?.up"], ALL[1::2]),
        (["lm_head"], ("lm_head",)),
    ],
)
def test_names_suffixes_and_globs(targets, names):
    assert match(targets) == names


def test_a_suffix_is_whole_parts_of_a_name():
    (problem,) = said(["proj"])
    assert problem.code == "AM420"
    assert "`proj` matches no layer" in problem.message


def test_a_misspelled_layer_gets_a_suggestion_and_the_choices():
    (problem,) = said(["q_porj"])
    assert problem.helps[0] == "did you mean `q_proj`?"
    assert "`lm_head`, `out_proj`, `q_proj`, `up`" in problem.helps[1]


def test_every_wrong_entry_is_said():
    assert [problem.code for problem in said(["norm", "q_proj", "nothing"])] == ["AM420", "AM420"]


def test_a_layer_of_another_kind_is_said_to_be_one():
    assert "only `LayerNorm`" in said(["norm"])[0].message
    assert "only `Router`" in said(["router"])[0].message


def test_a_fused_weight_is_said_to_be_one():
    assert "is a weight and not a linear layer" in said(["gate_up_proj"])[0].message


def test_a_layer_that_may_be_bypassed_is_refused_when_named():
    (problem,) = said(["out_proj"])
    assert problem.code == "AM422"
    assert "a kernel reads its weight" in problem.message


def test_no_targets_at_all_is_an_error():
    assert said([])[0].code == "AM420"


def test_a_model_without_linear_layers_is_said_to_have_none():
    with pytest.raises(InputError) as caught:
        match_targets(nn.LayerNorm(2), "all-linear", output_head=None, bypassed={}, span_of=lambda path: None)
    assert caught.value.diagnostics[0].code == "AM421"


@pytest.mark.parametrize(
    ("exclude", "names"),
    [
        (["q_proj"], ALL[1::2]),
        (["layers.0"], ALL[2:]),
        (["layers.0.*"], ALL[2:]),
        (["norm"], ALL),
        (["mixer", "*.up"], ALL[::2]),
    ],
)
def test_what_is_excluded_gets_no_adapter(exclude, names):
    assert match("all-linear", exclude) == names


def test_an_exclusion_that_matches_nothing_is_an_error():
    (problem,) = said("all-linear", ["q_prj"])
    assert problem.code == "AM420"
    assert "did you mean `q_proj`" in problem.helps[0]
