"""Keys of other systems that ask for what is done anyway."""

from __future__ import annotations

from typing import Any

import pytest

from automodel_core.config import load_run_config
from automodel_core.config.retired import without_retired
from automodel_core.config.source import read_yaml_text
from automodel_core.errors import InputError
from automodel_core.specs import RetiredKey

TABLE = (
    RetiredKey("a.kept", (True,), otherwise="write `a.real`"),
    RetiredKey("a.any"),
    RetiredKey("a.part.speed", ("fast",)),
    RetiredKey("a.part", ("their.Part",), "ours is used"),
)


def left(text: str) -> tuple[Any, list[str], list[tuple[str, int, int]]]:
    done = without_retired(read_yaml_text(text, "cfg.yaml"), TABLE)
    places = [(p.code, p.span.line, p.span.column) for p in done.problems if p.span is not None]
    return done.document.to_data(), [retired.old for retired in done.retired], places


def test_a_key_goes_when_its_value_is_one_that_it_may_have() -> None:
    assert left("a: {kept: true, any: 3, x: 1}") == ({"a": {"x": 1}}, ["a.kept", "a.any"], [])


def test_a_key_stays_when_it_asks_for_something_else() -> None:
    assert left("a: {kept: false}") == ({"a": {"kept": False}}, [], [])
    assert left("a: {kept: 1}") == ({"a": {"kept": 1}}, [], [])


def test_a_component_goes_with_the_arguments_that_are_in_the_table() -> None:
    text = "a:\n  part:\n    _target_: their.Part\n    speed: fast\n"
    assert left(text) == ({"a": {}}, ["a.part.speed", "a.part"], [])


def test_an_argument_that_asks_for_something_else_is_a_problem_at_its_place() -> None:
    text = "a:\n  part:\n    _target_: their.Part\n    speed: slow\n    colour: red\n"
    document, _, places = left(text)
    assert document == {"a": {}}
    assert places == [("AM217", 4, 5), ("AM217", 5, 5)]


def test_another_component_stays() -> None:
    assert left("a: {part: {_target_: my.Part}}")[0] == {"a": {"part": {"_target_": "my.Part"}}}


def test_a_value_that_may_not_stay_is_refused_with_what_to_write() -> None:
    with pytest.raises(InputError) as raised:
        load_run_config({"step_scheduler": {"save_checkpoint_every_epoch": True}}, required=())
    (problem,) = raised.value.diagnostics
    assert problem.code == "AM141"
    assert problem.helps == ("write `checkpoint_interval: N`, in steps",)


def test_a_note_is_a_warning_at_the_key() -> None:
    config = load_run_config({"checkpoint": {"model_save_format": "torch_save"}}, required=())
    (warning,) = config.warnings
    assert (warning.code, warning.severity) == ("AM916", "warning")
    assert "safetensors" in warning.message


def test_an_override_may_name_a_key_without_effect() -> None:
    assert not load_run_config({}, ["--dist_env.init_method", "env://"], required=()).warnings
    with pytest.raises(InputError) as raised:
        load_run_config({}, ["--dist_env.init_method", "tcp://host:1"], required=())
    assert [p.code for p in raised.value.diagnostics] == ["AM141"]


@pytest.mark.parametrize(
    ("sections", "read"),
    [
        ({"packed_sequence": {"packed_sequence_size": 0}}, ("packed_sequence", "packs", False)),
        ({"packed_sequence": {"packed_sequence_size": 512}}, ("packed_sequence", "packs", True)),
        ({"peft": {"match_all_linear": True}}, ("peft", "target_modules", "all-linear")),
        ({"peft": {"match_all_linear": False, "target_modules": "q"}}, ("peft", "target_modules", "q")),
        ({"freeze_config": {"freeze_vision_tower": True}}, ("freeze", "vision_tower", True)),
        ({"distributed": {"ep_size": None, "dp_replicate_size": "none"}}, ("distributed", "ep_size", 1)),
        ({"recipe": {"_target_": "a.B"}}, ("recipe", None, "a.B")),
    ],
)
def test_spellings_that_move_or_translate(sections: dict[str, Any], read: tuple[str, str | None, Any]) -> None:
    section, key, value = read
    config = load_run_config(sections, required=())
    found = getattr(config, section)
    assert (found if key is None else getattr(found, key)) == value


def test_a_switched_off_tracker_is_not_asked_for() -> None:
    from automodel_core.observability.observers import observers

    config = load_run_config({"wandb": {"enable": False, "project": "p", "dir": "d"}}, required=())
    assert (config.logging.wandb.enabled, config.logging.wandb.directory) == (False, "d")
    assert not [o for o in observers(config) if "Wandb" in type(o).__name__]


def test_both_spellings_of_a_moved_section_conflict_at_their_places() -> None:
    text = "freeze_config: {freeze_embeddings: true}\nfreeze: {embeddings: false}\n"
    from automodel_core.config.aliases import canonical_keys
    from automodel_core.config.spellings import CORE_KEY_ALIASES

    (problem,) = canonical_keys(read_yaml_text(text, "cfg.yaml"), CORE_KEY_ALIASES).problems
    assert problem.code == "AM130"
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (1, 1)
