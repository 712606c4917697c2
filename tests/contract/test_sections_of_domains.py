"""A section of one domain has no effect in another, and is refused there."""

from __future__ import annotations

from pathlib import Path

import pytest

import automodel_core as am
from automodel_core.config import load_run_config
from automodel_core.plugins import Catalog
from automodel_core.plugins.choosing import unread_sections
from automodel_core.specs import RecipeSpec

MODELS = {
    "finetune llm": "NeMoAutoModelForCausalLM.from_pretrained",
    "finetune vlm": "NeMoAutoModelForImageTextToText.from_pretrained",
    "finetune retrieval": "NeMoAutoModelBiEncoder.from_pretrained",
    "pretrain diffusion": "NeMoAutoDiffusionPipeline.from_pretrained",
}


@pytest.mark.parametrize(
    ("route", "section", "values"),
    [
        ("finetune llm", "ema", {"decay": 0.9}),
        ("finetune llm", "flow_matching", {"shift": 2.0}),
        ("finetune llm", "retrieval", {"query_prompt": "x"}),
        ("finetune llm", "processor", {"name_or_path": "/nowhere"}),
        ("finetune vlm", "ema", {"decay": 0.9}),
        ("finetune vlm", "tokenizer", {"name_or_path": "/nowhere"}),
        ("finetune retrieval", "sampling", {"labels": [1]}),
        ("pretrain diffusion", "mining", {"output": "x"}),
        ("pretrain diffusion", "tokenizer", {"name_or_path": "/nowhere"}),
    ],
)
def test_a_section_that_the_recipe_does_not_read_is_refused(
    tmp_path: Path, route: str, section: str, values: dict[str, object]
) -> None:
    config = {
        "model": {"_target_": MODELS[route], "name_or_path": str(tmp_path)},
        "dataset": {"_target_": "ChatDataset", "path": "x", "tokenizer_name_or_path": "x"},
        "optimizer": {"_target_": "torch.optim.AdamW"},
        "parallel_scheme": {"unet": {}},
        section: values,
    }
    if route != "pretrain diffusion":
        del config["parallel_scheme"]
    with pytest.raises(am.InputError, match=f"`{section}` has no effect") as error:
        am.run(config, route=route)
    (problem,) = error.value.diagnostics
    assert problem.code == "AM146"
    assert problem.span is not None
    assert f"x-{section}" in problem.helps[0]


def test_a_vision_language_model_may_be_told_how_to_generate() -> None:
    catalog = Catalog.discover()
    for name in ("VisionLanguageFinetuneRecipe", "VisionLanguageGenerateRecipe"):
        owned = catalog.recipes[name]
        assert isinstance(owned.spec, RecipeSpec)
        assert "generation" in owned.spec.also_reads
        assert (
            unread_sections(load_run_config({"generation": {}}, (), catalog.vocabulary(), required=()), owned, catalog)
            == []
        )
