"""What `config validate` says of the files that a config names, without importing anything heavy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from config_files import CONFIG

from automodel_core.checkpoint.manifest import Manifest
from automodel_core.cli import main


def write_checkpoint(directory: Path, step: int) -> Path:
    place = directory / f"step-{step}"
    place.mkdir(parents=True)
    (place / "manifest.json").write_text(Manifest(step, 0, 1, {"dp": 1}, "0", ()).to_json())
    return place


def test_a_config_whose_files_are_there_is_valid(validated) -> None:  # type: ignore[no-untyped-def]
    assert validated(CONFIG) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("./squad.json", "./squat.json", [("AM301", 6, 9)]),
        ("./squad.json", "squat.json", [("AM301", 6, 9)]),
        ("./squad.json", "~/no/such/place", [("AM301", 6, 9)]),
        ("./squad.json", "[squad.json, squat.jsonl]", [("AM301", 6, 22)]),
        ("./model", "./modle", [("AM401", 3, 17)]),
        ("./model", "./squad.json", [("AM401", 3, 17)]),
        ("runs/one", "squad.json/one", [("AM505", 11, 14)]),
        ("runs/one", "squad.json", [("AM505", 11, 14)]),
    ],
)
def test_a_file_that_is_not_there_is_said_where_it_is_named(validated, old: str, new: str, expected: list[Any]) -> None:  # type: ignore[no-untyped-def]
    assert validated(CONFIG.replace(old, new)) == expected


@pytest.mark.parametrize("path", ["rajpurkar/squad", "squad", "'*.json'", "'no/such/*.json'"])
def test_names_on_a_hub_and_patterns_are_left_alone(validated, path: str) -> None:  # type: ignore[no-untyped-def]
    assert validated(CONFIG.replace("./squad.json", path)) == []


def test_a_data_set_that_nobody_declares_may_make_its_files(validated) -> None:  # type: ignore[no-untyped-def]
    text = CONFIG.replace("./squad.json", "./gone.json")
    assert validated(text.replace("SquadDataset", "automodel_llm.data.squad.SquadDataset")) == []


@pytest.mark.usefixtures("home")
def test_the_neighbours_of_a_missing_file_are_offered(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cfg.yaml").write_text(CONFIG.replace("squad.json", "squat.json"))
    assert main(["config", "validate", "cfg.yaml"]) == 2
    err = capsys.readouterr().err
    assert "error: the data file `./squat.json` does not exist [AM301]\n  --> cfg.yaml:6:9\n" in err
    assert "did you mean `squad.json`?" in err


def test_a_damaged_model_directory_is_said(validated, home: Path) -> None:  # type: ignore[no-untyped-def]
    (home / "model" / "model.safetensors").rename(home / "model" / "pytorch_model.bin")
    assert validated(CONFIG) == [("AM410", 3, 17)]
    assert validated(CONFIG.replace("from_pretrained", "from_config")) == []
    index = {"weight_map": {"a.weight": "model-00001-of-00002.safetensors"}}
    (home / "model" / "model.safetensors.index.json").write_text(json.dumps(index))
    assert validated(CONFIG) == [("AM411", 3, 17)]
    (home / "model" / "config.json").write_text("{")
    assert validated(CONFIG) == [("AM402", 3, 17)]


def test_a_checkpoint_to_go_on_from_must_be_one(validated, home: Path) -> None:  # type: ignore[no-untyped-def]
    write_checkpoint(home / "runs" / "one", 3)
    text = CONFIG + "restore_from:\n  path: runs/one/step-4\n"
    assert validated(text) == [("AM501", 13, 9)]
    assert validated(text.replace("step-4", "step-3")) == []
    assert validated(text.replace("runs/one/step-4", "latest")) == []
    assert validated(text.replace("runs/one/step-4", "./model")) == [("AM502", 13, 9)]


def test_a_directory_with_another_run_is_not_written_to(validated, home: Path) -> None:  # type: ignore[no-untyped-def]
    write_checkpoint(home / "runs" / "one", 3)
    assert validated(CONFIG) == [("AM506", 11, 14)]
    assert validated(CONFIG + "  overwrite: true\n") == []
    assert validated(CONFIG + "  enabled: false\n") == []


def test_a_recipe_that_does_not_train_writes_no_checkpoints(validated, home: Path) -> None:  # type: ignore[no-untyped-def]
    write_checkpoint(home / "runs" / "one", 3)
    text = CONFIG.replace("optimizer:\n  _target_: torch.optim.AdamW\n  lr: 1e-5\n", "")
    assert validated(f"recipe: EvaluateRecipe\n{text}") == []


def test_all_of_it_is_said_at_once_with_what_the_config_says_wrong(validated) -> None:  # type: ignore[no-untyped-def]
    text = CONFIG.replace("./model", "./modle").replace("./squad", "./squat").replace("runs/one", "squad.json/one")
    text = text.replace("lr: 1e-5", "lrr: 1e-5") + "ema:\n  decay: 0.9\nrng:\n  sed: 1\n"
    assert validated(text) == [
        ("AM401", 3, 17),
        ("AM301", 6, 9),
        ("AM207", 9, 3),
        ("AM505", 11, 14),
        ("AM146", 12, 1),
        ("AM141", 15, 3),
    ]
