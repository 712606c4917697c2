"""Other spellings of keys."""

from __future__ import annotations

import pytest

from automodel_core.config import load_run_config
from automodel_core.config.aliases import canonical_keys
from automodel_core.config.paths import parse_path
from automodel_core.config.schemas import schema_fields
from automodel_core.config.source import read_yaml_text
from automodel_core.config.spellings import CORE_KEY_ALIASES
from automodel_core.config.vocabulary import core_vocabulary
from automodel_core.errors import InputError
from automodel_core.specs import KeyAlias


def test_the_other_spellings_arrive_in_ours() -> None:
    config = load_run_config(
        {
            "seed": 7,
            "step_scheduler": {"val_every_steps": 10, "ckpt_every_steps": 20, "local_batch_size": 4},
            "checkpoint": {"checkpoint_dir": "out", "restore_from": "out/step-10"},
            "peft": {"dim": 16, "lora_alpha": 32},
        },
        required=(),
    )
    assert config.rng.seed == 7
    assert config.step_scheduler.val_check_interval == 10
    assert config.step_scheduler.checkpoint_interval == 20
    assert config.dataloader.batch_size == 4
    assert config.checkpoint.directory == "out"
    assert config.restore_from.path == "out/step-10"
    assert (config.peft.rank, config.peft.alpha) == (16, 32.0)
    assert {renamed.old for renamed in config.renamed} >= {"seed", "peft.dim", "checkpoint.restore_from"}


def test_both_spellings_with_different_values_name_both_places() -> None:
    text = "step_scheduler:\n  val_every_steps: 10\n  val_check_interval: 20\n"
    done = canonical_keys(read_yaml_text(text, "cfg.yaml"), CORE_KEY_ALIASES)
    (problem,) = done.problems
    assert problem.code == "AM130"
    assert problem.span is not None
    assert problem.span.line == 2
    assert "cfg.yaml:3:3" in problem.label


@pytest.mark.parametrize(("old", "new", "kept"), [("10", "10", 10), ("null", "20", 20), ("10", "null", 10)])
def test_both_spellings_that_agree_or_are_null_are_one(old: str, new: str, kept: int) -> None:
    text = f"step_scheduler: {{val_every_steps: {old}, val_check_interval: {new}}}"
    done = canonical_keys(read_yaml_text(text), CORE_KEY_ALIASES)
    assert done.problems == ()
    assert done.document.to_data() == {"step_scheduler": {"val_check_interval": kept}}


def test_true_and_one_are_not_the_same_value() -> None:
    done = canonical_keys(read_yaml_text("a: true\nb: 1\n"), (KeyAlias("a", "b"),))
    assert [p.code for p in done.problems] == ["AM130"]


def test_a_key_that_has_nowhere_to_go_leaves_the_problem_to_the_section() -> None:
    with pytest.raises(InputError) as raised:
        load_run_config({"seed": 3, "rng": 5}, required=())
    assert [p.code for p in raised.value.diagnostics] == ["AM145"]


def test_every_alias_of_the_core_leads_to_a_key_that_exists() -> None:
    sections = core_vocabulary().sections
    for alias in CORE_KEY_ALIASES:
        section, *keys = parse_path(alias.new)
        if section == "recipe":
            continue
        spec = sections[str(section)]
        assert spec.component or not keys or keys[0] in schema_fields(spec)
