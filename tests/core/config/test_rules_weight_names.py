"""Patterns of `peft` and `freeze` against the headers of weight files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from config_files import CONFIG, DECODER, write_model
from hypothesis import given
from hypothesis import strategies as st

from automodel_core.config.name_patterns import matches_layer
from automodel_core.model_files.weights import tensor_names
from automodel_core.preflight.weight_names import _may_be_a_layer, _may_match


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("peft:\n  target_modules: q_prj\n", [("AM420", 13, 19)]),
        ("peft:\n  target_modules: [q_proj, v_prj]\n", [("AM420", 13, 28)]),
        ("peft:\n  target_modules: ['*.layers.*.v_prj', up_prj]\n", [("AM420", 13, 20), ("AM420", 13, 40)]),
        ("freeze:\n  patterns: ['*embed_tokns*']\n", [("AM430", 13, 14)]),
        ("freeze:\n  patterns: ['*embed*']\n  trainable: ['*normm*']\n", [("AM430", 14, 15)]),
        ("freeze:\n  patterns: ['*']\n", [("AM431", 13, 13)]),
    ],
)
def test_a_pattern_that_matches_nothing_is_said(validated, section: str, expected: list[Any]) -> None:  # type: ignore[no-untyped-def]
    assert validated(CONFIG + section) == expected


@pytest.mark.parametrize(
    "section",
    [
        "peft: {}\n",
        "peft:\n  target_modules: All-Linear\n",
        "peft:\n  target_modules: [q_proj, self_attn.v_proj, 'model.layers.[0-9].mlp.*', '*_proj']\n",
        "peft:\n  target_modules: [layers.0.self_attn.q_proj, base.layers.0.self_attn.q_proj, lm_head]\n",
        "freeze:\n  patterns: ['*embed*', 'base.embed_tokens.weight', 'transformer.model.norm*', 'lm_head.*']\n",
        "freeze:\n  patterns: ['*']\n  trainable: ['*norm*']\n",
        "peft: {}\nfreeze:\n  trainable: ['*lora_A*']\n",
    ],
)
def test_what_may_be_right_is_left_to_the_model(validated, section: str) -> None:  # type: ignore[no-untyped-def]
    assert validated(CONFIG + section) == []


@pytest.mark.parametrize("values", [{"num_experts": 8}, {"auto_map": {}}, {"vision_config": {"x": 1}}])
def test_nothing_is_said_of_a_model_whose_class_may_rename(validated, home: Path, values: dict[str, Any]) -> None:  # type: ignore[no-untyped-def]
    write_model(home / "model", DECODER, **values)
    assert validated(CONFIG + "peft:\n  target_modules: q_prj\n") == []


def test_names_are_read_from_an_index_and_from_a_header_alone(tmp_path: Path) -> None:
    write_model(tmp_path / "one", DECODER)
    assert tensor_names(tmp_path / "one") == set(DECODER)
    index = {"metadata": {}, "weight_map": dict.fromkeys(DECODER, "model-00001-of-00001.safetensors")}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert tensor_names(tmp_path) == set(DECODER)


@pytest.mark.parametrize("data", [b"", b"\xff" * 8, b"\xff" * 64, b"\x02" + b"\0" * 7 + b"[]", b"\x09" + b"\0" * 7])
def test_a_damaged_header_has_no_names(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(data)
    assert tensor_names(tmp_path) == frozenset()


PARTS = st.lists(st.sampled_from(["model", "layers", "0", "self_attn", "q_proj", "norm"]), min_size=1, max_size=5)


@given(name=PARTS, first=st.integers(0, 4), prefix=st.sampled_from(["", "base.", "a.b."]))
def test_whatever_matches_a_layer_is_no_alarm_whatever_the_prefix(name: list[str], first: int, prefix: str) -> None:
    entry = ".".join(name[min(first, len(name) - 1) :])
    assert matches_layer(entry, prefix + ".".join(name))
    assert _may_be_a_layer(entry, [".".join(name)])
    assert _may_be_a_layer(f"{prefix}{entry}", [".".join(name)])
    assert _may_match(f"*{entry}", [prefix + ".".join(name)])
