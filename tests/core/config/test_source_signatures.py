"""Signatures read from sources are those that importing finds, where they are found at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from automodel_core.cli import main
from automodel_core.config.argument_types import mismatch
from automodel_core.config.signatures import arguments_of
from automodel_core.config.source_signatures import arguments_in_source
from automodel_core.config.targets import import_declared
from automodel_core.plugins import Catalog
from automodel_core.specs import TargetSpec

TORCH = (
    *("torch.optim:AdamW", "torch.optim:SGD", "torch.optim:Adafactor", "torch.nn:Linear", "torch.nn:CrossEntropyLoss"),
    *("torch.optim.lr_scheduler:StepLR", "torch.optim.lr_scheduler:OneCycleLR", "torch.optim.lr_scheduler:LambdaLR"),
    *("torch.nn:MSELoss", "torch.nn:LayerNorm", "torch.nn.init:zeros_"),
)
DECLARED = sorted(
    {
        owned.spec.target
        for owned in Catalog.discover().targets.values()
        if isinstance(owned.spec, TargetSpec) and owned.spec.kind != "constant"
    }
)


@pytest.mark.parametrize("reference", [*TORCH, *DECLARED])
def test_the_source_says_what_the_signature_says(reference: str) -> None:
    read, imported = arguments_in_source(reference), arguments_of(import_declared(reference))

    assert read is not None
    assert dict(read.parameters) == dict(imported.parameters)
    assert (read.anything, read.any_number) == (imported.anything, imported.any_number)
    assert read.positional == imported.positional
    for value in (1, 0.5, "text", True, None, [1], {"a": 1}):
        for name, annotation in read.annotations.items():
            if mismatch(value, annotation) is not None:
                known = imported.annotations.get(name)  # not where a name is only for type checkers
                assert known is None or mismatch(value, known) is not None, (name, value)


@pytest.mark.parametrize(
    "reference",
    [
        *("torch.nothing:At", "no_such_package.module:Thing", "torch", "builtins.print", "math.sqrt", "a.b.c.d"),
        *("torch.optim:NoSuchOptimizer", "", ".", "torch.optim.AdamW.a.b"),
    ],
)
def test_what_cannot_be_told_is_left_open(reference: str) -> None:
    assert arguments_in_source(reference) is None


@pytest.mark.parametrize(
    ("source", "parameters"),
    [
        ("class A:\n    def __init__(self, x, *, y=1): ...", {"x": True, "y": False}),
        ("class B:\n    def __init__(self, x): ...\nclass A(B): ...", {"x": True}),
        ("def A(x, y=2): ...", {"x": True, "y": False}),
        ("try:\n    from .other import A\nexcept ImportError: ...", {"z": True}),
        ("from .other import *", {"z": True}),
        ("from .other import A as B\nfrom .other import C as A", {"w": True}),
        ("@wrapped\ndef A(x): ...", None),
        ("@wrapped\nclass A:\n    def __init__(self, x): ...", None),
        ("class A(Unknown): ...", None),
        ("class A:\n    def __new__(cls, x): ...\n    def __init__(self, y): ...", None),
        ("class A(A): ...", None),
        ("from .package import A", None),
        ("A = make()", None),
        ("def A(:", None),
        ("\0", None),
    ],
)
def test_definitions_are_followed_as_far_as_they_are_certain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, parameters: dict[str, bool] | None
) -> None:
    name = f"made_{abs(hash(source))}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(source)
    (tmp_path / name / "other.py").write_text("def A(z): ...\ndef C(w): ...")
    monkeypatch.syspath_prepend(tmp_path)

    found = arguments_in_source(f"{name}.A")

    assert (None if found is None else dict(found.parameters)) == parameters
    assert name not in sys.modules


CONFIG = """\
model:
  _target_: NeMoAutoModelForCausalLM.from_pretrained
  name_or_path: some/model
dataset:
  _target_: SquadDataset
  path: squad.json
optimizer:
  _target_: torch.optim.AdamW
  lr: 1e-5
lr_scheduler:
  _target_: CosineAnnealingWarmup
"""


@pytest.mark.parametrize(
    ("override", "code"),
    [
        ("optimizer.lrr=1", "AM207"),
        ("optimizer.lr=abc", "AM211"),
        ("optimizer.params=[]", "AM207"),
        ("dataset.foo=1", "AM207"),
        ("dataset.max_seq_length=long", "AM211"),
        ("lr_scheduler.warmup_step=1", "AM207"),
        ("loss_fn._target_=torch.nn.CrossEntropyLoss", None),
        ("optimizer._target_=torch.optim.SGD", None),
        ("optimizer.lr=1e-4", None),
    ],
)
def test_config_validate_compares_arguments_without_importing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    override: str,
    code: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("squad.json").write_text("{}")
    (tmp_path / "cfg.yaml").write_text(CONFIG)
    assert main(["config", "validate", str(tmp_path / "cfg.yaml"), override]) == (0 if code is None else 2)
    assert code is None or f"[{code}]" in capsys.readouterr().err


def test_nothing_is_imported_for_it(tmp_path: Path) -> None:
    (tmp_path / "cfg.yaml").write_text(CONFIG)
    program = (
        "import sys; from automodel_core.cli import main; code = main(['config', 'validate', *sys.argv[1:]]);"
        "heavy = {'torch', 'transformers', 'numpy'} & set(sys.modules);"
        "sys.exit(f'imported {sorted(heavy)}' if heavy else 0 if code == 2 else 'valid')"
    )
    words = [str(tmp_path / "cfg.yaml"), "optimizer.lrr=1"]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
