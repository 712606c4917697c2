"""Warnings about valid configs: each fires on its own case and is silent beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from automodel_core.config import RunConfig, Vocabulary, load_run_config
from automodel_core.config.rules import RULES
from automodel_core.diagnostics import CODES

DATA = {"_target_": "tiny.Dataset"}
SCHEDULE = {"_target_": "tiny.Schedule", "warmup_steps": 50}


def load(vocabulary: Vocabulary, **sections: Any) -> RunConfig:
    return load_run_config(sections, (), vocabulary, required=())


@pytest.mark.parametrize(
    ("code", "sections"),
    [
        ("AM901", {"step_scheduler": {"max_steps": 49}, "lr_scheduler": SCHEDULE}),
        ("AM902", {"step_scheduler": {"max_steps": 9, "val_check_interval": 10}, "validation_dataset": DATA}),
        ("AM903", {"step_scheduler": {"max_steps": 9, "checkpoint_interval": 10}}),
        ("AM904", {"step_scheduler": {"max_steps": 9, "log_interval": 10}}),
        ("AM905", {"step_scheduler": {"max_steps": 9}, "validation_dataset": DATA}),
        ("AM906", {"step_scheduler": {"max_steps": 9, "val_check_interval": 3}}),
        ("AM907", {"checkpoint": {"enabled": False}, "step_scheduler": {"checkpoint_interval": 3}}),
        ("AM907", {"checkpoint": {"enabled": False, "keep_last": 3}}),
        ("AM908", {"validation_dataloader": {"batch_size": 3}}),
        ("AM911", {"lr_scheduler": {"_target_": "nemo_automodel.schedulers.CosineAnnealingWarmup"}}),
    ],
)
def test_a_rule_warns_at_the_key_it_is_about(vocabulary: Vocabulary, code: str, sections: dict[str, Any]) -> None:
    (warning,) = load(vocabulary, **sections).warnings
    assert warning.code == code
    assert warning.code in CODES
    assert warning.severity == "warning"
    assert warning.span is not None


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"step_scheduler": {"max_steps": 50}, "lr_scheduler": SCHEDULE},
        {"step_scheduler": {"num_epochs": 1}, "lr_scheduler": SCHEDULE},
        {"step_scheduler": {"max_steps": 10, "val_check_interval": 10}, "validation_dataset": DATA},
        {"step_scheduler": {"max_steps": 10, "checkpoint_interval": 10}},
        {"step_scheduler": {"max_steps": 3}},
        {"checkpoint": {"enabled": False}},
        {"validation_dataloader": {"batch_size": None}},
        {"lr_scheduler": {"_target_": "tiny.Schedule"}},
    ],
)
def test_no_rule_warns_beside_its_case(vocabulary: Vocabulary, sections: dict[str, Any]) -> None:
    assert load(vocabulary, **sections).warnings == ()


def test_every_rule_is_documented() -> None:
    assert all(rule.__doc__ for rule in RULES)


def test_a_backend_for_gpus_is_read_as_gloo_without_them(tmp_path: Path) -> None:
    from automodel_core.config.rules.backend import has_gpu

    assert not has_gpu([tmp_path / "gpu"])
    (tmp_path / "gpu").touch()
    assert has_gpu([tmp_path / "gpu"])
    config = load_run_config({"dist_env": {"backend": "nccl"}}, required=())
    assert [warning.code for warning in config.warnings] == ([] if has_gpu() else ["AM918"])
    assert not load_run_config({"dist_env": {"backend": "gloo"}}, required=()).warnings
