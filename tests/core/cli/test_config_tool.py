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
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("squad.json").write_text("{}")
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


def test_several_configs_and_directories_are_checked_together(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "below" / "wrong.yaml"
    wrong.parent.mkdir()
    wrong.write_text(CONFIG.replace("max_steps", "max_step"))
    assert main(["config", "validate", str(config), str(wrong)]) == 2
    captured = capsys.readouterr()
    assert captured.out == f"{config}: valid\n"
    assert f"{wrong}:8:3" in captured.err
    assert main(["config", "validate", str(tmp_path), "--json"]) == 2
    verdicts = json.loads(capsys.readouterr().out)
    assert [(verdict["config"], verdict["valid"]) for verdict in verdicts] == [(str(wrong), False), (str(config), True)]
    wrong.unlink()
    assert main(["config", "validate", str(tmp_path), str(config)]) == 0


def test_a_layout_is_checked_against_a_number_of_ranks(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["config", "validate", str(config), "--distributed.tp_size=3"]
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert main(words) == 0
    assert main([*words, "--world-size", "8"]) == 2
    assert "[AM150]" in capsys.readouterr().err
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert main(words) == 2
    assert main([*words, "--world-size=6"]) == 0
    assert main([*words, "--world-size", "many"]) == 2
    monkeypatch.setenv("WORLD_SIZE", "-1")
    assert main(words) == 2
    assert "WORLD_SIZE is `-1`" in capsys.readouterr().err


def test_show_says_where_each_value_comes_from(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(CONFIG.replace("max_steps: 10", "val_every_steps: 5"))
    assert main(["config", "show", str(config), "--provenance", "--optimizer.lr", "3e-4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    said = dict(line.split("  # ") for line in (" ".join(line.split()).replace(" # ", "  # ") for line in lines))
    assert (
        said["step_scheduler.val_check_interval = 5"] == f"{config}:8:20, written as `step_scheduler.val_every_steps`"
    )
    assert said["optimizer.lr = 0.0003"].startswith("<command line>:1:")
    assert said["dataloader.batch_size = 1"] == "default"

    assert main(["config", "show", str(config), "--provenance", "-o", "json"]) == 0
    found = {one["key"]: one["from"] for one in json.loads(capsys.readouterr().out)}
    assert found["dataset.path"] == f"{config}:6:9"
    assert main(["config", "show", str(config), "-o", "xml"]) == 2


def test_secrets_are_not_shown(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = CONFIG.replace(
        "path: squad.json", "path: squad.json\n  api_key: abc123\n  hf_token: def456\n  pad_token: ghi"
    )
    config.write_text(secret)
    for words in ([], ["--json"], ["--provenance"], ["--provenance", "--json"]):
        assert main(["config", "show", str(config), *words]) == 0
        out = capsys.readouterr().out
        assert "abc123" not in out
        assert "def456" not in out
        assert "ghi" in out
        assert out.count("********") == 2


def test_show_writes_toml_that_loads_to_the_same_config(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text(
        CONFIG
        + "clip_grad_norm: {max_norm: null}\n"
        + "validation_dataset:\n  column_mapping: {question: q, 'a b': \"$${x}\"}\n  limit: null\n"
        + 'logging: {wandb: {name: "a\\nb"}}\n'
    )
    assert main(["config", "show", str(config), "-o", "toml", "--dist_env.timeout_minutes", "1e16"]) == 0
    written = capsys.readouterr().out
    assert 'max_norm = "none"\n' in written
    assert "# limit is null, which TOML leaves out\n" in written
    assert 'column_mapping."a b" = "$${x}"\n' in written
    copy = tmp_path / "copy.toml"
    copy.write_text(written)
    vocabulary = Catalog.discover().vocabulary()
    before = load_run_config(config, ["dist_env.timeout_minutes=1e16"], vocabulary).resolved()
    assert before["validation_dataset"].pop("limit") is None
    assert load_run_config(copy, (), vocabulary).resolved() == before


def test_what_toml_has_no_form_for_is_refused(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show", str(config), "-o", "toml", "+dataset.names=[a, null]"]) == 2
    assert "`dataset.names[1]` is null, which a list of TOML cannot hold [AM106]" in capsys.readouterr().err


def test_show_says_what_each_override_changed(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["optimizer.lr=1e-4", "--rng.seed", "7", "optimizer.betas=[0.8,0.9]", "~step_scheduler.max_steps"]
    words += ["step_scheduler.ckpt_every_steps=3", "+dataset.api_key=abc"]
    assert main(["config", "show", str(config), "--changes", *words]) == 0
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        f"optimizer.lr: 1e-05 -> 0.0001 # was {config}:11:7",
        "rng.seed: 42 -> 7 # was the default",
        "optimizer.betas: (not set) -> [0.8, 0.9] # was not set",
        f"step_scheduler.max_steps: 10 -> (deleted) # was {config}:8:14",
        "step_scheduler.checkpoint_interval: null -> 3 # was the default",
        "dataset.api_key: (not set) -> '********' # was not set",
    ]
    assert main(["config", "show", str(config), "--changes", "--json", "rng.seed=7"]) == 0
    (change,) = json.loads(capsys.readouterr().out)
    assert change == {"key": "rng.seed", "old": "42", "new": "7", "source": "the default"}
    assert main(["config", "show", str(config), "--changes"]) == 0
    assert capsys.readouterr().out == "no overrides\n"


@pytest.mark.parametrize("action", ["validate", "show"])
def test_keys_that_nothing_reads_are_said_once(action: str, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(CONFIG + "x-anchors: {}\nci: {recipe_owner: me}\n_note: 1\n")
    assert main(["config", action, str(config)]) == 0
    said = capsys.readouterr().err
    assert said.count("warning") == 1
    assert "`ci`, `_note` have no effect: nothing here reads such a key [AM940]" in said
    assert f"{config}:13:1" in said
    assert load_run_config(config, (), Catalog.discover().vocabulary()).warnings == ()


def test_show_says_what_the_validation_data_take_from_other_sections(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = CONFIG.replace("path: squad.json", "path: squad.json\n  max_seq_length: 99")
    config.write_text(text + "validation_dataset:\n  path: other.json\n")
    assert main(["config", "show", str(config), "--provenance"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert f"validation_dataset.max_seq_length = 99 # {config}:7:19, taken from `dataset.max_seq_length`" in lines
    assert (
        f"validation_dataset.tokenizer_name_or_path = some/model # {config}:3:17, taken from `model.name_or_path`"
        in lines
    )
    assert f"validation_dataset.path = other.json # {config}:14:9" in lines
    assert main(["config", "show", str(config), "--provenance", "tokenizer.name_or_path=elsewhere"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    taken = "elsewhere # <command line>:1:24, taken from `tokenizer.name_or_path`"
    assert f"dataset.tokenizer_name_or_path = {taken}" in lines


def test_a_name_that_no_file_can_have_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "validate", "x" * 5000]) == 2
    assert "[AM100]" in capsys.readouterr().err
