"""What a plugin declares of a recipe is what the class says of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from automodel_core.cli import main
from automodel_core.plugins import Catalog
from automodel_core.plugins.loading import load_recipe_class

CATALOG = Catalog.discover()
RECIPES = {owned.spec.name: owned for owned in CATALOG.recipes.values()}


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_declared_sections_are_those_of_the_class(name: str) -> None:
    owned = RECIPES[name]

    assert owned.spec.requires == load_recipe_class(owned).required_sections


def test_recipes_of_every_domain_are_declared() -> None:
    assert {owned.plugin for owned in RECIPES.values()} >= {"llm", "vlm", "diffusion", "retrieval"}


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("recipe: MineHardNegativesRecipe\nmodel: {_target_: torch.nn.Linear}\n", {"dataset"}),
        ("recipe: EvaluateRecipe\nmodel: {_target_: torch.nn.Linear}\n", set()),
        (
            "model: {_target_: NeMoAutoDiffusionPipeline}\n",
            {"parallel_scheme", "dataset", "optimizer"},
        ),
        ("model: {_target_: torch.nn.Linear}\n", {"dataset", "optimizer"}),
        ("recipe: NoSuchRecipe\nmodel: {_target_: torch.nn.Linear}\n", {"dataset", "optimizer"}),
        ("recipe: [a]\nmodel: 3\n", {"dataset", "optimizer"}),
    ],
)
def test_config_validate_asks_for_the_sections_of_its_recipe(
    text: str, missing: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)

    main(["config", "validate", str(config), "--json"])

    found = [d for d in json.loads(capsys.readouterr().out)["diagnostics"] if d["code"] == "AM144"]
    sections = ("dataset", "optimizer", "parallel_scheme")
    assert {name for name in sections if any(f"`{name}`" in d["message"] for d in found)} == missing
