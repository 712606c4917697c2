"""Names of dtypes: every spelling means the same wherever a dtype is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from automodel_core.config import Vocabulary, load_run_config
from automodel_core.config.argument_types import mismatch
from automodel_core.config.components import build_component
from automodel_core.config.dtypes import AUTO, dtype_help, dtype_name
from automodel_core.config.rules import ARGUMENT_RULES
from automodel_core.config.source_signatures import arguments_in_source
from automodel_core.errors import InputError

SPELLINGS = {
    torch.bfloat16: ["bf16", "BF16", "bfloat16", "torch.bfloat16"],
    torch.float32: ["fp32", "float32", "torch.float32", "float", "torch.float"],
    torch.float16: ["fp16", "float16", "half", "torch.half", "torch.float16"],
    torch.float64: ["fp64", "float64", "double", "torch.double"],
    torch.int64: ["int64", "long", "torch.long"],
}


@pytest.mark.parametrize(("dtype", "text"), [(dtype, text) for dtype, texts in SPELLINGS.items() for text in texts])
def test_a_spelling_is_torchs_own_dtype(dtype: torch.dtype, text: str) -> None:
    name = dtype_name(text)
    assert name is not None
    assert getattr(torch, name) is dtype


def test_auto_is_no_dtype_and_other_texts_are_nothing() -> None:
    assert dtype_name("auto") == AUTO
    assert dtype_name("bf17") is None
    assert dtype_name("Tensor") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bfloat17", "did you mean `bfloat16`"),
        ("torch.flaot32", "did you mean `float32`"),
        ("bf17", "did you mean `bf16`"),
        ("?", "the dtypes are `auto`, `float32`, `bfloat16`, `float16`, `float64`"),
    ],
)
def test_what_is_no_dtype_has_a_suggestion(text: str, said: str) -> None:
    assert dtype_help(text).startswith(said)


def test_a_union_with_a_dtype_takes_only_texts_that_spell_one() -> None:
    assert mismatch("bf16", str | torch.dtype | None) is None
    assert mismatch("bf17", str | torch.dtype | None) == "a dtype or null"
    assert mismatch(16, torch.dtype) == "a dtype"


CAST = """\
from __future__ import annotations
import torch

class Cast:
    def __init__(self, dtype: torch.dtype = torch.float32, out: str | torch.dtype = "auto", note: str = ""):
        self.dtype, self.out, self.note = dtype, out, note

def load(name, **kwargs):
    return kwargs
"""


@pytest.fixture
def cast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vocabulary: Vocabulary) -> Vocabulary:
    from automodel_core.specs import TrustedPrefix

    (tmp_path / "dtype_test_parts.py").write_text(CAST)
    monkeypatch.syspath_prepend(str(tmp_path))
    return vocabulary.with_plugins(trusted=(TrustedPrefix("dtype_test_parts"),))


def test_an_argument_that_asks_for_a_dtype_is_given_one(cast: Vocabulary) -> None:
    section = {"_target_": "dtype_test_parts.Cast", "dtype": "fp16", "out": "auto", "note": "fp16"}
    config = load_run_config({"loss_fn": section}, (), cast, required=())
    built = build_component(config.loss_fn, cast)
    assert (built.dtype, built.out, built.note) == (torch.float16, "auto", "fp16")


def test_a_loader_that_takes_anything_is_given_one_by_name(cast: Vocabulary) -> None:
    section = {"_target_": "dtype_test_parts.load", "name": "half", "torch_dtype": "half", "other": "half"}
    config = load_run_config({"model": section}, (), cast, required=())
    assert build_component(config.model, cast) == {"torch_dtype": torch.float16, "other": "half"}


def test_a_wrong_name_is_found_without_an_import(cast: Vocabulary, tmp_path: Path) -> None:
    assert arguments_in_source("dtype_test_parts.Cast") is not None
    path = tmp_path / "cfg.yaml"
    path.write_text("loss_fn:\n  _target_: dtype_test_parts.Cast\n  dtype: bfloat17\n")
    with pytest.raises(InputError) as raised:
        load_run_config(path, (), cast, required=(), rules=ARGUMENT_RULES)
    (found,) = raised.value.diagnostics
    assert found.span is not None
    assert (found.code, found.span.line, found.span.column) == ("AM211", 3, 3)
    assert found.message == "`dtype` of `dtype_test_parts.Cast` must be a dtype, got the text `bfloat17`"
    assert found.helps[0].startswith("did you mean `bfloat16`")
