"""Which observers a run gets, and what happens when one cannot be had."""

from __future__ import annotations

import sys
from typing import Any

import attrs
import pytest
import yaml

from automodel_core.cli import main
from automodel_core.config import dump_value, load_run_config
from automodel_core.errors import InputError
from automodel_core.observability.observers import TRACKERS, observers


def config(**logging: Any) -> Any:
    return load_run_config({"logging": logging}, required=())


@pytest.fixture
def nothing_installed(monkeypatch):
    for kind in TRACKERS:
        for module in kind.modules:
            monkeypatch.setitem(sys.modules, module, None)


def test_without_a_word_there_are_the_console_the_picture_and_the_record(nothing_installed) -> None:
    assert [type(observer).__name__ for observer in observers(config())] == ["ConsoleLog", "LossPlot", "JsonLines"]


def test_trackers_that_are_not_installed_are_refused_all_at_once_with_what_to_type(nothing_installed) -> None:
    with pytest.raises(InputError) as error:
        observers(config(tensorboard={}, wandb={}, mlflow={}, trackio={}))
    assert [(found.code, found.helps[0]) for found in error.value.diagnostics] == [
        ("AM345", f"pip install {kind.package}") for kind in TRACKERS
    ]
    assert all(kind.key in found.message for kind, found in zip(TRACKERS, error.value.diagnostics, strict=True))


def test_a_missing_tracker_stops_the_command_at_its_key_before_anything_is_built(
    nothing_installed, watched_config, tmp_path, capfd
) -> None:
    watched_config["logging"] = {"wandb": {"mode": "offline"}}
    path = tmp_path / "cfg.yaml"
    path.write_text(yaml.safe_dump(watched_config, sort_keys=False))
    assert main(["finetune", "llm", "-c", str(path)]) == 2
    said = capfd.readouterr().err
    assert "`logging.wandb` needs the package `wandb`" in said
    assert f"{path}:{path.read_text().splitlines().index('logging:') + 3}" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kind", TRACKERS, ids=lambda kind: kind.key)
def test_every_key_of_a_tracker_can_be_overridden_and_stands_on_the_reference_page(kind, pytestconfig) -> None:
    page = (pytestconfig.rootpath / "docs" / "configuration.md").read_text(encoding="utf-8")
    section = getattr(config(**{kind.key: {}}).logging, kind.key)
    for key, default in attrs.asdict(section).items():
        assert f"| `{kind.key}.{key}` |" in page
        chosen = {"mode": "offline", "enabled": False, "tags": ["chosen"]}.get(key, "chosen")
        overridden = load_run_config({}, [f"logging.{kind.key}.{key}={dump_value(chosen)}"], required=()).logging
        assert attrs.asdict(getattr(overridden, kind.key)) == attrs.asdict(section) | {key: chosen}
        assert default != chosen
