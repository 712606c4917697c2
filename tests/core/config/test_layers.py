"""Configs that extend others."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_core.config import load_run_config
from automodel_core.config.layers import read_layers
from automodel_core.config.vocabulary import core_vocabulary
from automodel_core.errors import InputError

BASE = """\
step_scheduler: {max_steps: 10, log_interval: 2}
optimizer:
  _target_: torch.optim.AdamW
  lr: 1.0e-3
  betas: [0.9, 0.95]
"""


def write(directory: Path, **files: str) -> None:
    for name, text in files.items():
        path = directory / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_config_lies_over_what_it_extends(tmp_path: Path) -> None:
    write(tmp_path, base=BASE, top="extends: base.yaml\noptimizer: {lr: 1.0e-4, betas: [0.8, 0.9]}\nrng: {seed: 3}\n")

    document = read_layers(tmp_path / "top.yaml")

    assert document.to_data() == {
        "step_scheduler": {"max_steps": 10, "log_interval": 2},
        "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-4, "betas": [0.8, 0.9]},
        "rng": {"seed": 3},
    }
    places = {path: document.at(path).span for path in ("optimizer.lr", "optimizer._target_")}  # type: ignore[union-attr]
    assert str(places["optimizer.lr"]) == f"{tmp_path}/top.yaml:2:17"
    assert str(places["optimizer._target_"]) == f"{tmp_path}/base.yaml:3:13"


def test_another_target_brings_its_own_arguments(tmp_path: Path) -> None:
    write(tmp_path, base=BASE, top="extends: base.yaml\noptimizer: {_target_: torch.optim.SGD, lr: 0.1}\n")
    assert read_layers(tmp_path / "top.yaml").to_data()["optimizer"] == {"_target_": "torch.optim.SGD", "lr": 0.1}


def test_several_layers_at_several_depths(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path, base=BASE, other="rng: {seed: 1}\nstep_scheduler: {max_steps: 20}\n")
    write(tmp_path / "sub", middle="extends: [../base.yaml, ../other.yaml]\n")
    write(tmp_path, top="extends: sub/middle.yaml\nrng: {seed: 2}\n")

    data = read_layers(tmp_path / "top.yaml").to_data()

    assert data["step_scheduler"] == {"max_steps": 20, "log_interval": 2}
    assert data["rng"] == {"seed": 2}
    assert "extends" not in data


def test_layers_are_one_config_to_overrides_references_and_python(tmp_path: Path) -> None:
    write(tmp_path, base="rng: {seed: 5}\nx-seed: ${rng.seed}\n")
    config = load_run_config(
        {"extends": str(tmp_path / "base.yaml"), "clip_grad_norm": {"max_norm": 2}},
        ["rng.seed=7"],
        core_vocabulary(),
        required=(),
    )
    assert (config.rng.seed, config.extras["x-seed"], config.clip_grad_norm.max_norm) == (7, 7, 2)


def test_a_mistake_is_shown_in_the_file_that_has_it(tmp_path: Path) -> None:
    write(tmp_path, base="rng:\n  sed: 5\n", top="extends: base.yaml\nrng: {seed: 1}\n")
    with pytest.raises(InputError) as error:
        load_run_config(tmp_path / "top.yaml", (), core_vocabulary(), required=())
    (problem,) = error.value.diagnostics
    assert (problem.code, str(problem.span)) == ("AM141", f"{tmp_path}/base.yaml:2:3")


@pytest.mark.parametrize(
    ("files", "code", "place"),
    [
        ({"top": "extends: absent.yaml\n"}, "AM100", "top.yaml:1:10"),
        ({"top": "rng: {}\nextends: [base.yaml, 3]\n", "base": BASE}, "AM142", "top.yaml:2:22"),
        ({"top": "extends: {a: 1}\n"}, "AM142", "top.yaml:1:10"),
        ({"top": "extends: ''\n"}, "AM142", "top.yaml:1:10"),
        ({"top": "extends: base.yaml\n", "base": "extends: top.yaml\n"}, "AM105", "top.yaml:1:10"),
        ({"top": "extends: top.yaml\n"}, "AM105", "top.yaml:1:10"),
        ({"top": "extends: base.yaml\n", "base": "rng: [\n"}, "AM102", "base.yaml:2:1"),
    ],
)
def test_what_cannot_be_extended(tmp_path: Path, files: dict[str, str], code: str, place: str) -> None:
    write(tmp_path, **files)
    with pytest.raises(InputError) as error:
        read_layers(tmp_path / "top.yaml")
    (problem,) = error.value.diagnostics
    assert problem.code == code
    assert str(problem.span).endswith(place)
