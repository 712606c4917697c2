"""A vocabulary with one plugin's worth of names, over a real module that the tests write."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import config_files
import pytest

from automodel_core.cli import main
from automodel_core.config import Vocabulary, core_vocabulary, load_run_config, targets_by_name
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.specs import ModelSpec, TargetSpec, TrustedPrefix

PARTS = """
import functools
import os
from subprocess import run as launch
from textwrap import dedent

CALLS = []


class Model:
    def __init__(self, name_or_path, depth=2, **extra):
        CALLS.append(("Model", name_or_path))
        self.name_or_path, self.depth, self.extra = name_or_path, depth, extra

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, depth=1):
        return cls(pretrained_model_name_or_path, depth)


class Dataset:
    def __init__(self, tokenizer_name_or_path, max_seq_length=1024, split="train", transform=None):
        self.tokenizer_name_or_path, self.max_seq_length = tokenizer_name_or_path, max_seq_length
        self.split, self.transform = split, transform


class Schedule:
    def __init__(self, optimizer, warmup_steps=0, min_lr=0.0):
        self.optimizer, self.warmup_steps, self.min_lr = optimizer, warmup_steps, min_lr


def scale(factor=1.0):
    CALLS.append(("scale", factor))
    return ("scale", factor)


def fails(value=0):
    raise ValueError("from the inside")


def fails_below():
    fails()


tripled = functools.partial(scale, factor=3.0)
wrapped_launch = functools.partial(launch, "true")
NOT_CALLABLE = 3
"""


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of an importable module with targets."""
    directory = tmp_path_factory.mktemp("modules")
    package = directory / "config_test_parts"
    package.mkdir()
    (package / "__init__.py").write_text(PARTS)
    (package / "below.py").write_text("def deep(value=1):\n    return value\n")
    (package / "broken.py").write_text("import a_module_that_is_not_installed\n")
    sys.path.insert(0, str(directory))
    return "config_test_parts"


@pytest.fixture(scope="session")
def vocabulary(parts: str) -> Vocabulary:
    """The core's vocabulary and what a plugin with the seed's names would declare."""
    return core_vocabulary().with_plugins(
        targets=targets_by_name(
            ModelSpec("tiny.Model", f"{parts}:Model", "x:Y", ("nemo_automodel.models.llm.NemotronHForCausalLM",)),
            TargetSpec("tiny.Dataset", f"{parts}:Dataset", "dataset", ("nemo_automodel.datasets.squad.SquadDataset",)),
            TargetSpec(
                "tiny.Schedule",
                f"{parts}:Schedule",
                "lr_scheduler",
                fallback_for=("nemo_automodel.schedulers.CosineAnnealingWarmup",),
                note="it anneals once",
            ),
            TargetSpec("tiny.gone", f"{parts}:no_such_name", "other"),
        ),
        trusted=(TrustedPrefix(parts),),
    )


@pytest.fixture
def problems(tmp_path: Path, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Load a text as ``cfg.yaml`` (or another name) and return its problems; none when it loads."""
    monkeypatch.chdir(tmp_path)

    def load(text: str | bytes, *overrides: str, name: str = "cfg.yaml") -> tuple[Diagnostic, ...]:
        data = text.encode() if isinstance(text, str) else text
        Path(name).write_bytes(data)
        try:
            load_run_config(name, overrides, vocabulary, required=(), environment={"LR": "1e-4", "RUN": "seven"})
        except InputError as error:
            return error.diagnostics
        return ()

    return load


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a model and data, in which the tests run."""
    monkeypatch.chdir(tmp_path)
    config_files.write_model(tmp_path / "model", config_files.DECODER)
    (tmp_path / "squad.json").write_text("{}")
    return tmp_path


@pytest.fixture
def validated(home: Path, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Return (code, line, column) of everything that is said of a config."""

    def validate(text: str, *words: str) -> list[tuple[str, int | None, int | None]]:
        Path("cfg.yaml").write_text(text)
        code = main(["config", "validate", "cfg.yaml", "--json", *words])
        verdict = json.loads(capsys.readouterr().out)
        assert code == (0 if verdict["valid"] else 2)
        assert verdict["depth"] == "names"
        places = [(d["code"], d["span"] or {"line": None, "column": None}) for d in verdict["diagnostics"]]
        return [(code, span["line"], span["column"]) for code, span in places]

    return validate
