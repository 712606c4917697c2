"""``automodel_core.run``: which recipe a config gets, and what it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import automodel_core as am

InstallPlugin = Callable[..., Path]

# A domain whose recipes only remember what they were given: choosing is what is tested.
AUDIO = """
    from automodel_core.hookspecs import hookimpl
    from automodel_core.specs import ModelSpec, RecipeSpec, Route

    @hookimpl
    def routes():
        return [
            Route("finetune", "audio", "audio_plugin", "Fine-tune.", aliases=("sound",)),
            Route("pretrain", "audio", "audio_other", "Pretrain."),
        ]

    @hookimpl
    def recipes():
        return [RecipeSpec("Elsewhere", "audio_elsewhere:Elsewhere", "A recipe.", aliases=("OldName",))]

    @hookimpl
    def models():
        return [ModelSpec("audio.Model", "audio_plugin:Model", "audio_plugin:Adapter")]

    def main(config, overrides=(), plugins=(), plugin_files=()):
        return ("finetune", config, overrides, plugins, plugin_files)
"""
ELSEWHERE = """
from automodel_core import BaseRecipe

class Elsewhere(BaseRecipe):
    def setup(self):
        self.loss = self.host.maybe("build_loss_fn", config=self.config)

    def run_train_validation_loop(self):
        self.ran = True

    def build_loss_fn(self):
        return "of the recipe"
"""


@pytest.fixture
def config(install_plugin: InstallPlugin) -> dict[str, Any]:
    """A config of the installed domain's model."""
    directory = install_plugin("audio", AUDIO)
    (directory / "audio_other.py").write_text("def main(config, **given):\n    return 'pretrain'\n")
    (directory / "audio_elsewhere.py").write_text(ELSEWHERE)
    return {
        "model": {"_target_": "audio.Model.from_pretrained"},
        "dataset": {"_target_": "SquadDataset"},
        "optimizer": {"_target_": "AdamW"},
    }


def problem(config: Any, **given: Any) -> am.Diagnostic:
    with pytest.raises(am.InputError) as caught:
        am.run(config, **given)
    (found,) = caught.value.diagnostics
    return found


def test_the_model_decides_when_nothing_is_said(config: dict[str, Any]) -> None:
    ran = am.run(config, overrides=["--optimizer.lr", "1e-3"], plugins=iter(["p"]), plugin_files=["f.py"])
    assert ran == ("finetune", config, ("--optimizer.lr", "1e-3"), ("p",), ("f.py",))


def test_overrides_may_be_a_mapping(config: dict[str, Any]) -> None:
    assert am.run(config, {"optimizer.lr": 1e-3})[2] == {"optimizer.lr": 1e-3}


def test_a_route_decides_over_the_model(config: dict[str, Any]) -> None:
    assert am.run(config, route="pretrain audio") == "pretrain"
    assert am.run(config, route="finetune  sound")[0] == "finetune"


@pytest.mark.parametrize("name", ["Elsewhere", "OldName", "audio_elsewhere.Elsewhere"])
def test_the_recipe_key_decides_over_everything(config: dict[str, Any], name: str) -> None:
    """By its name, a name it has elsewhere, or its dotted path; the recipe comes back."""
    recipe = am.run({**config, "recipe": name}, route="pretrain audio")
    assert type(recipe).__name__ == "Elsewhere"
    assert recipe.ran
    assert recipe.loss == "of the recipe"


def test_an_object_overrides_a_hook_of_the_recipe(config: dict[str, Any]) -> None:
    class Mine:
        @am.hookimpl
        def build_loss_fn(self) -> str:
            return "of the user"

    assert am.run({**config, "recipe": "Elsewhere"}, plugins=[Mine()]).loss == "of the user"


def test_an_unknown_recipe_or_route_suggests(config: dict[str, Any]) -> None:
    assert problem({**config, "recipe": "Elsewher"}).helps[0] == "did you mean `Elsewhere`?"
    assert problem(config, route="finetune audoi").helps[0].startswith("did you mean `finetune audio`")


def test_a_model_that_no_plugin_declares_needs_a_route(config: dict[str, Any]) -> None:
    found = problem({**config, "model": {"_target_": "transformers.AutoModelForCausalLM.from_pretrained"}})
    assert found.code == "AM621"
    assert 'route="finetune llm"' in found.helps[0]
    assert found.span is not None


def test_a_broken_plugin_is_a_warning(config: dict[str, Any], install_plugin: InstallPlugin) -> None:
    install_plugin("bad", "raise RuntimeError('no licence')")
    with pytest.warns(UserWarning, match="plugin `bad` .* is broken"):
        am.run(config)
