"""Configs of other systems written in our spelling."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_core.config import load_run_config, load_yaml
from automodel_core.config.migration import migrate
from automodel_core.plugins import Catalog

CATALOG = Catalog.discover()
RECIPES = {name: owned.spec.name for name, owned in CATALOG.recipes.items()}
OLD = """\
# what it is for
recipe: TrainFinetuneRecipeForNextTokenPrediction
seed: 7  # lucky

step_scheduler:
  local_batch_size: 4
  # often enough
  val_every_steps: 10
  gc_every_steps: 5

rng_of_mine: {a: 1}
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: ${oc.env:MODEL,tiny}
  backend:
    _target_: nemo_automodel.components.models.common.BackendConfig
    attn: te
    fake_balanced_gate: true
optimizer:
  _target_: transformer_engine.pytorch.optimizers.fused_adam.FusedAdam
  lr: 1e-5
  betas: [0.9, 0.95]  # as ever
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "old.yaml"
    file.write_text(OLD, encoding="utf-8")
    return file


def test_the_new_text_says_what_changed_and_what_is_left(old: Path) -> None:
    done = migrate(old, CATALOG.vocabulary(), RECIPES)
    lines = done.text.splitlines()
    assert lines[:2] == [
        "# what it is for",
        "recipe: TrainFinetuneRecipe  # was `TrainFinetuneRecipeForNextTokenPrediction`",
    ]
    assert "  seed: 7  # lucky; was `seed`" in lines
    place = lines.index("  val_check_interval: 10  # was `step_scheduler.val_every_steps`")
    assert lines[place - 1] == "  # often enough"
    assert "  batch_size: 4  # was `step_scheduler.local_batch_size`" in lines
    assert "  name_or_path: ${oc.env:MODEL,tiny}  # was `model.pretrained_model_name_or_path`" in lines
    assert "  betas: [0.9, 0.95]  # as ever" in lines
    assert any(line.startswith("  _target_: automodel_core.FusedAdam  # was") and "torch's" in line for line in lines)
    done_anyway = lines.index("# these keys say nothing here, and what they ask for is done anyway:")
    without = lines.index("# these keys have no counterpart:")
    assert "#   step_scheduler.gc_every_steps: 5" in lines[done_anyway:without]
    assert lines[without + 1 :] == ["#   rng_of_mine: {a: 1}", "#   model.backend.fake_balanced_gate: true"]
    assert {p.code for p in done.left_out} == {"AM140", "AM217"}
    assert done.problems == ()


def test_the_new_config_is_the_old_one_without_what_is_left(old: Path) -> None:
    done = migrate(old, CATALOG.vocabulary(), RECIPES)
    text = OLD.replace("rng_of_mine: {a: 1}\n", "").replace("    fake_balanced_gate: true\n", "")
    before = load_run_config(load_yaml(text), vocabulary=CATALOG.vocabulary(), required=())
    after = load_run_config(load_yaml(done.text), vocabulary=CATALOG.vocabulary(), required=())
    assert after.renamed == ()
    resolved, theirs = after.resolved(), before.resolved()
    for section in ("model", "optimizer"):  # the same, under our name
        resolved[section].pop("_target_"), theirs[section].pop("_target_")
    assert {**resolved, "recipe": None} == {**theirs, "recipe": None}


def test_a_config_of_ours_stays_as_it_is(tmp_path: Path) -> None:
    text = "# mine\nmodel:\n  _target_: torch.nn.Linear\n  in_features: '${env:X}'  # text\n  out_features: 2\n"
    (tmp_path / "c.yaml").write_text(text)
    assert migrate(tmp_path / "c.yaml", CATALOG.vocabulary(), RECIPES).text == text


def test_quoted_text_and_nested_lists_are_kept(tmp_path: Path) -> None:
    text = "x-a:\n  b: '1'\n  c: [{d: [1, '2']}, null, \"t\\tab\"]\n  e: {}\n"
    (tmp_path / "c.yaml").write_text(text)
    done = migrate(tmp_path / "c.yaml", CATALOG.vocabulary(), RECIPES)
    assert load_yaml(done.text) == load_yaml(text)


def test_the_published_configs_migrate_to_configs_without_other_spellings() -> None:
    published = Path(__file__).parents[4] / "shared" / "cases" / "real_configs"
    if not published.is_dir():
        pytest.skip("the published configs are not here")
    files = sorted(published.glob("*.yaml"))
    assert len(files) == 64
    for file in files:
        done = migrate(file, CATALOG.vocabulary(), RECIPES)
        assert isinstance(load_yaml(done.text), dict), file


def test_the_command_writes_a_new_file_once(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from automodel_core.cli import main

    new = tmp_path / "new.yaml"
    assert main(["config", "migrate", str(old), "-o", str(new)]) == 0
    assert "without a counterpart" in capsys.readouterr().err
    assert load_yaml(new.read_text())["rng"] == {"seed": 7}
    assert main(["config", "migrate", str(old), "-o", str(new)]) == 2
    assert "AM510" in capsys.readouterr().err
