"""What `config validate --deep` says of every domain's starters, and of a config with several mistakes at once."""

import json
from importlib import resources
from pathlib import Path

import pytest
from tiny_assets import MAKERS

STARTERS = {
    place.name: place
    for domain in ("llm", "vlm", "diffusion", "retrieval")
    for place in (resources.files(f"automodel_{domain}") / "starters").iterdir()
    if place.name.endswith(".yaml")
}
CONFIG = """\
model:
  _target_: NeMoAutoModelForCausalLM.from_pretrained
  name_or_path: MODEL
dataset:
  _target_: InstructionDataset
  path: rows.jsonl
  column_mapping: {question: question, answer: anser}
validation_dataset:
  path: held_out.jsonl
loss_fn:
  _target_: torch.nn.TripletMarginLoss
optimizer:
  _target_: torch.optim.LBFGS
peft:
  target_modules: [q_proj, norm]
checkpoint:
  directory: rows.jsonl
step_scheduler:
  max_steps: 2
  val_check_interval: 1
"""
ROWS = '{"question": "What is 1?", "answer": "One."}\n' * 4
PROBLEMS = [
    ("AM420", 15, 28),  # a layer norm is no linear layer
    ("AM341", 11, 3),  # no sum over targets
    ("AM213", 13, 3),  # a closure
    ("AM309", 6, 3),  # a column that the file lacks
    ("AM309", 9, 3),  # and the other too
    ("AM505", 17, 14),  # a file is in the way
]


@pytest.fixture
def config(llama, tmp_path, monkeypatch):
    """A config with mistakes that only imports, rows and the model's names can show."""
    monkeypatch.chdir(tmp_path)
    for name in ("rows.jsonl", "held_out.jsonl"):
        Path(name).write_text(ROWS)
    Path("cfg.yaml").write_text(CONFIG.replace("MODEL", str(llama)))
    return Path("cfg.yaml")


def said(out):
    verdict = json.loads(out)
    assert verdict["depth"] == "imports"
    return [(d["code"], d["span"]["line"], d["span"]["column"]) for d in verdict["diagnostics"]]


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    home = tmp_path_factory.mktemp("cache")
    for name, make in MAKERS.items():
        make(home / "assets" / name)
    return home


@pytest.mark.parametrize("name", sorted(STARTERS))
def test_a_starter_is_sound_and_nothing_is_written(name, assets, automodel, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOMODEL_CACHE", str(assets))
    monkeypatch.chdir(tmp_path)
    before = sorted(assets.rglob("*"))
    Path("cfg.yaml").write_text(STARTERS[name].read_text())
    code, out, err = automodel("config", "validate", "--deep", "cfg.yaml")
    assert (code, out, err) == (0, "cfg.yaml: valid\n", "")
    assert list(tmp_path.iterdir()) == [tmp_path / "cfg.yaml"]
    assert sorted(assets.rglob("*")) == before


def test_independent_mistakes_are_said_at_once(config, automodel):
    code, out, _ = automodel("config", "validate", "--deep", "--json", config)
    assert code == 2
    assert sorted(said(out)) == sorted(PROBLEMS)


def test_a_run_says_the_same_before_it_reads_a_weight(config, automodel, tmp_path):
    code, _, err = automodel("finetune", "llm", "-c", config)
    assert code == 2
    for problem, line, column in PROBLEMS:
        assert f"[{problem}]" in err
        assert f"cfg.yaml:{line}:{column}\n" in err
    assert not list(tmp_path.glob("checkpoints"))


def test_what_is_mended_is_not_said(config, automodel):
    words = ["--checkpoint.directory", "out", "--peft.target_modules", "[q_proj]", "--optimizer._target_"]
    words += ["torch.optim.SGD", "--loss_fn._target_", "torch.nn.CrossEntropyLoss"]
    code, out, _ = automodel("config", "validate", "--deep", "--json", config, *words)
    assert code == 2
    assert said(out) == [("AM309", 6, 3), ("AM309", 9, 3)]
    words += ["--dataset.column_mapping.answer", "answer"]
    assert automodel("config", "validate", "--deep", config, *words)[:2] == (0, "cfg.yaml: valid\n")
    assert not Path("out").exists()


def test_a_config_of_a_wrong_shape_is_said_as_without_it(config, automodel):
    config.write_text(config.read_text().replace("max_steps", "max_step") + "rng: {seed: x}\n")
    shallow = automodel("config", "validate", "--json", config)
    deep = automodel("config", "validate", "--deep", "--json", config)
    assert json.loads(shallow[1])["diagnostics"] == json.loads(deep[1])["diagnostics"]
    assert json.loads(shallow[1])["depth"] == "names"


def test_a_plugin_is_asked_about_what_it_builds_itself(config, automodel):
    Path("own.py").write_text(
        "from automodel_core import hookimpl, NOTHING\n"
        "from automodel_core.checkpoint.config import CheckpointConfig\n"
        "from pathlib import Path\n\n\n"
        "@hookimpl\n"
        "def build_checkpoint_config():\n"
        "    return CheckpointConfig(Path('elsewhere'))\n"
    )
    _, out, _ = automodel("config", "validate", "--deep", "--json", config, "--plugin", "own.py")
    assert sorted(said(out)) == sorted(p for p in PROBLEMS if p[0] != "AM505")


def test_a_frozen_pattern_is_matched_with_the_model(config, automodel):
    freeze = "freeze:\n  patterns: ['layers.*']\n"
    config.write_text(config.read_text().replace("peft:\n  target_modules: [q_proj, norm]\n", freeze))
    _, out, _ = automodel("config", "validate", "--deep", "--json", config)
    assert ("AM430", 15, 14) in said(out)


def test_a_missing_file_is_said_once_where_both_depths_find_it(config, automodel):
    for name in ("rows.jsonl", "held_out.jsonl"):
        Path(name).unlink()
    words = ["--checkpoint.directory", "out", "--model.name_or_path", "./absent"]
    _, out, _ = automodel("config", "validate", "--deep", "--json", config, *words)
    found = [d["code"] for d in json.loads(out)["diagnostics"]]
    assert (found.count("AM401"), found.count("AM301")) == (1, 2)
