"""What the documents show is run as it stands, with only paths filled in and fewer steps."""

import re
import shlex
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(document: str, program: str) -> list[list[str]]:
    joined = "\n".join(blocks(document, "bash")).replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in joined.splitlines() if line.startswith(program)]


def test_the_readme_s_training_command_trains(llama, squad, tmp_path, monkeypatch, automodel):
    (arguments,) = [c for c in commands("README.md", "automodel") if "examples/finetune_llm.yaml" in c]
    places = {
        "examples/finetune_llm.yaml": str(ROOT / "examples/finetune_llm.yaml"),
        "path/to/model": str(llama),
        "path/to/squad.json": str(squad),
    }
    monkeypatch.chdir(tmp_path)
    code, _, err = automodel(*[places.get(a, a) for a in arguments], "--step_scheduler.max_steps", "2")
    assert code == 0, err
    assert (tmp_path / "checkpoints/step-2/model.safetensors").exists()


def test_the_readme_s_test_command_is_a_target_of_the_makefile():
    (command,) = [line for block in blocks("README.md", "bash") for line in block.splitlines() if "make" in line]
    assert command.split()[1] + ":" in (ROOT / "Makefile").read_text()
    assert command in (ROOT / ".ci/run").read_text()


def test_the_readme_s_error_is_what_the_command_prints(small_config, tmp_path, monkeypatch, automodel):
    (shown,) = blocks("README.md", "text")
    (tmp_path / "cfg.yaml").write_text("\n" * 16 + "step_scheduler:\n  max_step: 2\n")
    monkeypatch.chdir(tmp_path)
    _, out, err = automodel("config", "validate", "cfg.yaml")
    assert shown.strip() in out + err


def test_the_readme_s_hooks_override_the_optimizer(small_config, tmp_path, monkeypatch):
    import json

    (snippet,) = blocks("README.md", "python")
    (tmp_path / "cfg.yaml").write_text(json.dumps(small_config))
    monkeypatch.chdir(tmp_path)
    used = []

    class MyOptimizer(torch.optim.SGD):
        def __init__(self, parameters, lr):
            used.append(lr)
            super().__init__(parameters, lr=lr)

    exec(compile(snippet, "README.md", "exec"), {"MyOptimizer": MyOptimizer})
    assert used == [1e-3]


def test_the_example_config_is_valid_once_it_names_data(automodel, squad):
    code, out, err = automodel("config", "validate", ROOT / "examples/finetune_llm.yaml", "--dataset.path", squad)
    assert code == 0, out + err


def test_the_recipe_of_the_guide_trains_and_weighs_its_loss(small_config, tmp_path, monkeypatch, records):
    snippet = blocks("docs/writing-a-recipe.md", "python")[0]
    (tmp_path / "my_recipe.py").write_text(snippet)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_recipe", raising=False)
    import my_recipe

    from automodel_llm.recipes import train_ft

    my_recipe.main(small_config)
    weighed = records(small_config["checkpoint"]["directory"], "step")
    small_config["checkpoint"]["directory"] += "-plain"
    train_ft.main(small_config)
    plain = records(small_config["checkpoint"]["directory"], "step")
    assert weighed[0]["loss"] == pytest.approx(plain[0]["loss"] / 2)
