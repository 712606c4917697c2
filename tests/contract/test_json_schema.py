"""The JSON Schema of configs: what ships is valid by it, and the usual mistakes are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from automodel_core.cli import main
from automodel_core.config import load_run_config
from automodel_core.config.json_schema import config_schema
from automodel_core.config.source import load_yaml
from automodel_core.plugins import Catalog
from automodel_core.plugins.starters import installed_starters

ROOT = Path(__file__).parents[2]
CATALOG = Catalog.discover()
SHIPPED = {
    **{name: starter.text for name, starter in installed_starters(CATALOG).items()},
    **{path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.yaml")},
}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return config_schema(CATALOG.vocabulary())


def complaints(schema: dict[str, Any], config: str) -> list[str]:
    """Return the paths of what a validator refuses."""
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(schema)
    return sorted("/".join(map(str, error.absolute_path)) for error in validator.iter_errors(load_yaml(config)))


def test_the_schema_is_one(schema: dict[str, Any]) -> None:
    pytest.importorskip("jsonschema").Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_what_ships_is_valid(name: str, schema: dict[str, Any]) -> None:
    assert complaints(schema, SHIPPED[name]) == []


def test_what_show_prints_is_valid(schema: dict[str, Any]) -> None:
    for text in SHIPPED.values():
        config = load_run_config(load_yaml(text), (), CATALOG.vocabulary(), required=())
        assert complaints(schema, config.to_yaml()) == []


@pytest.mark.parametrize(
    "config",
    [
        "x-anchors: &a {lr: 1}\n_note: 1\nci: [1]\nrng: null\nrecipe: null\nextends: [a.yaml]\n",
        "seed: 3\nstep_scheduler: {val_every_steps: 2, max_steps: '${env:STEPS}', preemption_signal: SIGTERM}\n",
        "distributed: {dp_size: none, tp_size: 2, sequence_parallel: None}\n",
        "checkpoint: {keep_last: none, max_shard_size: 2.5GB, directory: 'runs/${rng.seed}'}\nlogging: {wandb: {}}\n",
        "model: {_target_: anything.at.all, _args_: [1], _partial_: true, pretrained_model_name_or_path: x}\n",
    ],
)
def test_every_way_to_write_a_valid_config_is_valid(config: str, schema: dict[str, Any]) -> None:
    assert complaints(schema, config) == []


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ("step_schedular: {}", ""),
        ("step_scheduler: {max_step: 3}", "step_scheduler"),
        ("step_scheduler: {max_steps: '3'}", "step_scheduler/max_steps"),
        ("step_scheduler: {max_steps: 0}", "step_scheduler/max_steps"),
        ("distributed: {strategy: fsdp3}", "distributed/strategy"),
        ("peft: {dropout: 1.0}", "peft/dropout"),
        ("peft: {target_modules: []}", "peft/target_modules"),
        ("checkpoint: {max_shard_size: 5 apples}", "checkpoint/max_shard_size"),
        ("logging: {wandb: {mode: on-line}}", "logging/wandb"),
        ("freeze: {patterns: [1]}", "freeze/patterns"),
        ("model: {_target_: 3}", "model/_target_"),
        ("rng: 3", "rng"),
    ],
)
def test_the_usual_mistakes_are_not(config: str, path: str, schema: dict[str, Any]) -> None:
    assert complaints(schema, config) == [path]


def test_fields_have_their_documentation_default_and_limits(schema: dict[str, Any]) -> None:
    field = schema["properties"]["step_scheduler"]["properties"]["log_interval"]
    assert field == {
        "description": "Steps between lines on the console; the record on disk has all. Must be at least 1.",
        "default": 10,
        "anyOf": [{"type": "integer", "minimum": 1}, {"$ref": "#/$defs/reference"}],
    }


def test_every_section_of_every_plugin_and_every_alias_is_there(schema: dict[str, Any]) -> None:
    vocabulary = CATALOG.vocabulary()
    assert schema["properties"].keys() >= vocabulary.sections.keys()
    old = schema["properties"]["step_scheduler"]["properties"]["val_every_steps"]
    assert old == {"deprecated": True, "description": "Another spelling of `step_scheduler.val_check_interval`."}
    assert "torch.optim.AdamW" in schema["properties"]["optimizer"]["properties"]["_target_"]["anyOf"][0]["enum"]


def test_the_command_prints_it(schema: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema
    assert main(["config", "schema", "cfg=yaml"]) == 2
    assert "`automodel config schema` takes no config [AM706]" in capsys.readouterr().err
