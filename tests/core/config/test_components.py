"""Components: shape, signature, building, and what validation data inherits."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
import torch

from automodel_core.config import (
    Component,
    RunConfig,
    Vocabulary,
    build_component,
    check_component,
    component_problems,
    inherit_arguments,
    load_run_config,
    resolve_target,
)
from automodel_core.config.argument_types import mismatch
from automodel_core.errors import InputError


def component(vocabulary: Vocabulary, data: Any, section: str = "dataset") -> Component:
    """Return one component of a config that has only that."""
    found: Component = getattr(load_run_config({section: data}, (), vocabulary, required=()), section)
    return found


def codes(error: pytest.ExceptionInfo[InputError]) -> list[str]:
    return [d.code for d in error.value.diagnostics]


def test_arguments_read_as_attributes_and_a_typo_is_suggested() -> None:
    found = Component("a.b", {"lr": 0.1, "target": "x"}, "optimizer")
    assert found.lr == 0.1
    assert found.target == "a.b"
    assert found.kwargs["target"] == "x"
    with pytest.raises(AttributeError, match=r"`optimizer` has no key `lrr`; did you mean `lr`\?"):
        _ = found.lrr


def test_a_component_copies_and_pickles() -> None:
    found = Component("a.b", {"lr": 0.1, "inner": Component("c.d")}, "optimizer")
    assert copy.deepcopy(found) == found
    assert pickle.loads(pickle.dumps(found)) == found


def test_defaults_fill_only_what_is_not_said() -> None:
    found = Component("a.b", {"lr": 0.1}).with_defaults({"lr": 5, "eps": 6})
    assert dict(found.kwargs) == {"lr": 0.1, "eps": 6}


def test_loading_imports_nothing_that_the_config_names(vocabulary: Vocabulary, parts: str) -> None:
    name = f"{parts}.below"
    sys.modules.pop(name, None)
    found = component(vocabulary, {"_target_": f"{name}.deep"})
    assert name not in sys.modules
    assert build_component(found, vocabulary) == 1
    assert name in sys.modules


@pytest.mark.parametrize(
    "target",
    ["tiny.Dataset", "nemo_automodel.datasets.squad.SquadDataset", "config_test_parts.Dataset"],
)
def test_a_name_an_alias_and_a_trusted_module_give_the_same_class(
    vocabulary: Vocabulary, target: str, parts: str
) -> None:
    found = resolve_target(Component(target), vocabulary)
    assert found is importlib.import_module(parts).Dataset


def test_class_methods_are_targets_behind_names_aliases_and_modules(vocabulary: Vocabulary) -> None:
    for target in ("tiny.Model", "nemo_automodel.models.llm.NemotronHForCausalLM", "config_test_parts.Model"):
        model = build_component(
            Component(f"{target}.from_pretrained", {"pretrained_model_name_or_path": "m"}), vocabulary
        )
        assert (model.name_or_path, model.depth) == ("m", 1)


def test_a_key_in_our_spelling_feeds_a_target_that_has_only_the_other(vocabulary: Vocabulary) -> None:
    for key in ("name_or_path", "pretrained_model_name_or_path"):
        for target in ("tiny.Model", "tiny.Model.from_pretrained"):
            found = component(vocabulary, {"_target_": target, key: "m"}, "model")
            check_component(found, vocabulary)
            assert build_component(found, vocabulary).name_or_path == "m"


def test_nested_components_are_built_inside_out(vocabulary: Vocabulary, parts: str) -> None:
    module = importlib.import_module(parts)
    data = {
        "_target_": "tiny.Dataset",
        "tokenizer_name_or_path": "t",
        "transform": [{"_target_": f"{parts}.scale", "factor": 2}, {"k": {"_target_": f"{parts}.scale"}}, 3],
    }
    module.CALLS.clear()
    built = build_component(component(vocabulary, data), vocabulary)
    assert built.transform == [("scale", 2), {"k": ("scale", 1.0)}, 3]
    assert module.CALLS == [("scale", 2), ("scale", 1.0)]


def test_extra_arguments_win_and_count_as_given(vocabulary: Vocabulary) -> None:
    found = component(vocabulary, {"_target_": "tiny.Schedule", "warmup_steps": 5}, "lr_scheduler")
    with pytest.raises(InputError) as raised:
        check_component(found, vocabulary)
    assert codes(raised) == ["AM208"]
    check_component(found, vocabulary, provided={"optimizer"})
    built = build_component(found, vocabulary, optimizer="o", warmup_steps=6)
    assert (built.optimizer, built.warmup_steps) == ("o", 6)


def test_an_unknown_argument_is_reported_at_its_key_and_a_missing_one_at_the_target(
    vocabulary: Vocabulary, tmp_path: Any
) -> None:
    path = tmp_path / "cfg.yaml"
    path.write_text("dataset:\n  _target_: tiny.Dataset\n  max_seq_lenght: 5\n")
    found = load_run_config(path, (), vocabulary, required=()).dataset
    unknown, missing = component_problems(found, vocabulary)
    assert (unknown.code, unknown.span.line, unknown.span.column) == ("AM207", 3, 3)  # type: ignore[union-attr]
    assert unknown.helps == ("did you mean `max_seq_length`?",)
    assert (missing.code, missing.span.line, missing.span.column) == ("AM208", 2, 13)  # type: ignore[union-attr]
    with pytest.raises(InputError) as raised:
        build_component(found, vocabulary)
    assert codes(raised) == ["AM207", "AM208"]


def test_problems_of_nested_components_are_found_without_a_call(vocabulary: Vocabulary, parts: str) -> None:
    module = importlib.import_module(parts)
    module.CALLS.clear()
    nested = {"_target_": f"{parts}.scale", "factr": 1}
    data = {"_target_": "tiny.Dataset", "tokenizer_name_or_path": "t", "transform": [nested]}
    assert [p.code for p in component_problems(component(vocabulary, data), vocabulary)] == ["AM207"]
    assert module.CALLS == []


def test_a_target_that_refuses_its_arguments_is_a_users_mistake_with_its_cause(
    vocabulary: Vocabulary, parts: str
) -> None:
    with pytest.raises(InputError, match="refuses these arguments: from the inside") as caught:
        build_component(Component(f"{parts}.fails"), vocabulary)
    assert [d.code for d in caught.value.diagnostics] == ["AM212"]
    assert isinstance(caught.value.__cause__, ValueError)


def test_what_is_raised_below_the_target_is_not_hidden(vocabulary: Vocabulary, parts: str) -> None:
    with pytest.raises(ValueError, match="from the inside"):
        build_component(Component(f"{parts}.fails_below"), vocabulary)


@pytest.mark.parametrize(
    ("annotation", "fitting", "wrong"),
    [
        (int, [3, -1], ["3", 3.0, True, None]),
        (float, [3, 0.5], ["x", False, None]),
        (bool, [True], [1, "true"]),
        (str | None, ["a", None], [1, ["a"]]),
        (Literal["a", 2], ["a", 2], ["b", 2.0]),
        (str | Sequence[str], ["a", ["a", "b"]], [None, 3, ["a", 3]]),
        (tuple[float, float], [[0.9, 1]], [[0.9], 0.9, ["a", "b"]]),
        (float | torch.Tensor, [1], ["abc", [1]]),
        (Path, ["a", 1, None], []),
        (int | Path, ["a", 1, None], []),
        (Any, ["a", 1, None], []),
    ],
)
def test_values_are_compared_with_simple_annotations(annotation: Any, fitting: list[Any], wrong: list[Any]) -> None:
    assert [value for value in fitting if mismatch(value, annotation) is not None] == []
    assert [value for value in wrong if mismatch(value, annotation) is None] == []


def test_extra_keys_pass_where_the_target_takes_any(vocabulary: Vocabulary) -> None:
    found = component(vocabulary, {"_target_": "tiny.Model", "name_or_path": "m", "num_layers": 4}, "model")
    check_component(found, vocabulary)
    assert build_component(found, vocabulary).extra == {"num_layers": 4}


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("config_test_parts.Datset", "AM205", "`Dataset`"),
        ("config_test_parts.below.dep", "AM205", "`deep`"),
        ("config_test_parts.belw.deep", "AM205", ""),
        ("config_test_parts.broken.x", "AM205", "a_module_that_is_not_installed"),
        ("config_test_parts.NOT_CALLABLE", "AM206", "class or a function"),
        ("config_test_parts.Model.from_pretraned", "AM205", "`from_pretrained`"),
        ("tiny.Model.from_pretraned", "AM205", "`from_pretrained`"),
        ("tiny.gone", "AM205", "no_such_name"),
    ],
)
def test_a_target_that_cannot_be_imported_says_why(vocabulary: Vocabulary, target: str, code: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        resolve_target(Component(target), vocabulary)
    (found,) = raised.value.diagnostics
    assert found.code == code
    assert words in " ".join((found.message, *found.helps))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"lr": 1}, "AM201"),
        ({"_target": "a.b"}, "AM201"),
        ({"_target_": 3}, "AM202"),
        ({"_target_": ""}, "AM202"),
        ({"_target_": ["a"]}, "AM202"),
        ({"_target_": "tiny.Dataset", "_partial_": "x"}, "AM202"),
        ({"_target_": "tiny.Dataset", "a b": True}, "AM202"),
        ({"_target_": "tiny.Dataset", "transform": {"_target_": None}}, "AM202"),
        ("tiny.Dataset", "AM145"),
    ],
)
def test_a_component_of_the_wrong_shape_is_refused_when_the_config_is_read(
    vocabulary: Vocabulary, data: Any, code: str
) -> None:
    with pytest.raises(InputError) as raised:
        component(vocabulary, data)
    assert codes(raised) == [code]


def validation(vocabulary: Vocabulary, **sections: Any) -> tuple[RunConfig, Component]:
    config = load_run_config(sections, (), vocabulary, required=())
    found = inherit_arguments(config.validation_dataset, config.dataset, config.model, vocabulary=vocabulary)
    return config, found


def test_validation_data_takes_what_it_leaves_out_from_dataset_then_model(vocabulary: Vocabulary) -> None:
    config, found = validation(
        vocabulary,
        model={"_target_": "tiny.Model", "name_or_path": "m", "depth": 3},
        dataset={"_target_": "tiny.Dataset", "tokenizer_name_or_path": "t", "max_seq_length": 9},
        validation_dataset={"split": "validation"},
    )
    assert found.target == "tiny.Dataset"
    assert dict(found.kwargs) == {"split": "validation", "tokenizer_name_or_path": "t", "max_seq_length": 9}
    assert found.key_spans["max_seq_length"] == config.dataset.key_spans["max_seq_length"]


def test_the_tokenizer_of_data_is_the_models_when_nobody_says_it(vocabulary: Vocabulary) -> None:
    _, found = validation(
        vocabulary,
        model={"_target_": "tiny.Model", "name_or_path": "m"},
        dataset={"_target_": "tiny.Dataset"},
        validation_dataset={"_target_": "tiny.Dataset"},
    )
    assert found.kwargs["tokenizer_name_or_path"] == "m"
    assert "name_or_path" not in found.kwargs


def test_only_what_the_signature_names_is_inherited(vocabulary: Vocabulary, parts: str) -> None:
    _, found = validation(
        vocabulary,
        dataset={"_target_": "tiny.Dataset", "max_seq_length": 9, "split": "train"},
        validation_dataset={"_target_": f"{parts}.scale"},
    )
    assert dict(found.kwargs) == {}
