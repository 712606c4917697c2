"""Positional arguments, partial targets, callables and constants as arguments."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch

from automodel_core.config import Vocabulary, build_component, check_component, load_run_config
from automodel_core.config.component import Component
from automodel_core.config.vocabulary import core_vocabulary
from automodel_core.errors import InputError

CORE = core_vocabulary()


def component(data: dict[str, Any]) -> Component:
    found: Component = load_run_config({"loss_fn": data}, (), CORE, required=()).loss_fn
    return found


def build(data: dict[str, Any]) -> Any:
    found = component(data)
    check_component(found, CORE)
    return build_component(found, CORE)


def problems(data: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as error:
        build(data)
    return [(problem.code, problem.message) for problem in error.value.diagnostics]


def test_positional_arguments() -> None:
    layer = build({"_target_": "torch.nn.Linear", "_args_": [3, 4], "bias": False})
    assert (layer.in_features, layer.out_features, layer.bias) == (3, 4, None)


def test_positional_arguments_may_be_components() -> None:
    data = {"_target_": "torch.nn.Sequential", "_args_": [{"_target_": "torch.nn.Linear", "_args_": [3, 4]}]}
    assert isinstance(build(data)[0], torch.nn.Linear)


def test_a_partial_target_waits_for_the_rest() -> None:
    made = build({"_target_": "torch.nn.Linear", "_partial_": True, "_args_": [3], "bias": False})
    assert isinstance(made, functools.partial)
    assert made(4).out_features == 4
    assert made(4).bias is None


def test_a_constant_is_itself() -> None:
    layer = build({"_target_": "torch.nn.Linear", "_args_": [3, 4], "dtype": {"_target_": "torch.bfloat16"}})
    assert layer.weight.dtype is torch.bfloat16


def test_a_callable_is_given_and_not_called() -> None:
    data = {
        "_target_": "torch.nn.TripletMarginWithDistanceLoss",
        "distance_fn": "torch.nn.functional.pairwise_distance",
        "distance_function": {"_target_": "torch.nn.PairwiseDistance"},
    }
    found = component(data)
    assert build_component(found.kwargs["distance_fn"], CORE) is torch.nn.functional.pairwise_distance
    assert isinstance(build_component(found.kwargs["distance_function"], CORE), torch.nn.PairwiseDistance)


def test_what_a_config_says_comes_back_as_it_was_said() -> None:
    data = {"_target_": "torch.nn.Linear", "_args_": [1, 2], "_partial_": True, "init_fn": "torch.nn.init.zeros_"}
    assert component(data).to_data() == data


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        ({"_target_": "torch.nn.Linear", "_args_": 3}, "AM202", "must be a list of positional arguments"),
        ({"_target_": "torch.nn.Linear", "_partial_": "yes"}, "AM202", "must be true or false"),
        ({"_target_": "torch.nn.Linear", "_args_": [1, 2, True, None, None, 6]}, "AM209", "takes 5 positional"),
        (
            {"_target_": "torch.nn.Linear", "_args_": [1], "in_features": 2, "out_features": 3},
            "AM209",
            "given by `_args_`",
        ),
        ({"_target_": "torch.nn.Linear", "_args_": [1]}, "AM208", "needs the argument `out_features`"),
        ({"_target_": "torch.nn.Linear", "_partial_": True, "biass": 1}, "AM207", "no argument `biass`"),
        ({"_target_": "torch.bfloat16", "x": 1}, "AM206", "not callable"),
        ({"_target_": "torch.nn.Linear", "_argz_": [1]}, "AM202", "cannot be a keyword argument"),
        ({"_target_": "torch.nn.Linear", "x_fn": "os.system"}, "AM204", "never allowed"),
        ({"_target_": "torch.nn.Linear", "x_fn": "mine.own"}, "AM203", "not trusted"),
        ({"_target_": "torch.nn.Linear", "_args_": [{"_target_": "os.system"}]}, "AM204", "never allowed"),
    ],
)
def test_what_is_wrong_is_said(data: dict[str, Any], code: str, says: str) -> None:
    assert any(found == code and says in message for found, message in problems(data)), problems(data)


def test_a_name_without_a_dot_stays_text(vocabulary: Vocabulary) -> None:
    found = component({"_target_": "torch.nn.Linear", "act_fn": "gelu", "note": "torch.nn.Linear"})
    assert found.kwargs == {"act_fn": "gelu", "note": "torch.nn.Linear"}
