"""``automodel config validate`` and ``show``, and ``automodel explain``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from automodel_core.cli import main
from automodel_core.config import load_run_config
from automodel_core.plugins import Catalog

CONFIG = """\
model:
  _target_: NeMoAutoModelForCausalLM.from_pretrained
  name_or_path: some/model
dataset:
  _target_: SquadDataset
  path: squad.json
step_scheduler:
  max_steps: 10
optimizer:
  _target_: torch.optim.AdamW
  lr: 1e-5
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "cfg.yaml"
    path.write_text(CONFIG)
    return path


def test_a_sound_config_is_valid(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([str(config)], ["-c", str(config)], ["--optimizer.lr", "1e-4", str(config)]):
        assert main(["config", "validate", *words]) == 0
        assert capsys.readouterr().out == f"{config}: valid\n"


def test_a_typo_is_shown_with_its_place(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(CONFIG.replace("max_steps", "max_step"))
    assert main(["config", "validate", str(config)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{config}:8:3" in captured.err
    assert "max_steps" in captured.err


def test_json_is_for_programs(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "validate", str(config), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["valid"] is True
    config.write_text(CONFIG.replace("max_steps", "max_step"))
    assert main(["config", "validate", "--json", str(config)]) == 2
    captured = capsys.readouterr()
    assert captured.err == ""
    verdict = json.loads(captured.out)
    assert verdict["valid"] is False
    assert verdict["diagnostics"][0]["span"]["line"] == 8


def test_a_wrong_override_is_an_error_too(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "validate", str(config), "step_scheduler.max_step=3"]) == 2
    assert "step_scheduler.max_step" in capsys.readouterr().err


def test_what_show_prints_is_a_config_that_means_the_same(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "show", str(config), "--optimizer.lr", "3e-4"]) == 0
    shown = tmp_path / "shown.yaml"
    shown.write_text(capsys.readouterr().out)
    words = Catalog.discover().vocabulary()
    resolved = load_run_config(shown, vocabulary=words).resolved()
    assert resolved["optimizer"]["lr"] == 3e-4
    assert resolved == load_run_config(config, ["--optimizer.lr", "3e-4"], words).resolved()

    assert main(["config", "show", str(config), "--optimizer.lr", "3e-4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == resolved


def test_a_config_is_checked_without_torch(config: Path) -> None:
    program = (
        "import sys; from automodel_core.cli import main; code = main(['config', 'validate', sys.argv[1]]);"
        "sys.exit('torch was imported' if 'torch' in sys.modules else code)"
    )
    done = subprocess.run([sys.executable, "-c", program, config], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_tools_help_and_refuse(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--help"]) == 0
    assert main(["config", "show", "--help"]) == 0
    assert capsys.readouterr().out.count("usage: automodel config validate CFG") == 2
    assert main(["config", "show"]) == 2
    assert "`automodel config show CFG`" in capsys.readouterr().err
    assert main(["config"]) == 2
    assert "needs an action" in capsys.readouterr().err


def test_explain_says_what_a_code_means(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "am140"]) == 0
    assert capsys.readouterr().out.startswith("AM140: unknown section")
    assert main(["explain", "AM14"]) == 2
    assert "did you mean" in capsys.readouterr().err
