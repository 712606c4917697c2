"""The suite of every recipe, on diffusion: pixels with labels from scratch, latents with labels or prompts."""

from typing import Any, ClassVar

import pytest
from tiny_pipelines import LABELLED_UNET, make_dit, make_stable_diffusion, make_stable_diffusion_3, write_images

from automodel_core.testing.recipe_suite import RecipeSuite


@pytest.fixture(scope="module")
def dit(tmp_path_factory):
    return make_dit(tmp_path_factory.mktemp("dit"))


@pytest.fixture(scope="module")
def stable_diffusion(tmp_path_factory):
    return make_stable_diffusion(tmp_path_factory.mktemp("sd") / "pipeline")


@pytest.fixture(scope="module")
def stable_diffusion_3(tmp_path_factory):
    return make_stable_diffusion_3(tmp_path_factory.mktemp("sd3") / "pipeline")


class Diffusion(RecipeSuite):
    route = "finetune diffusion"
    told = "label"
    component = "unet"
    more: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def model(self):
        raise NotImplementedError

    @pytest.fixture
    def config(self, model, tmp_path):
        channels, edge = (1, 8) if "unet" in model else (3, 16)
        directory = write_images(tmp_path / "images", edge=edge, channels=channels)
        return {
            "model": model,
            "parallel_scheme": {self.component: {"strategy": "fsdp2"}},
            "dataset": {
                "_target_": "ImageDataset",
                "path": str(directory),
                "size": edge,
                "channels": channels,
                self.told: self.told,
            },
            "validation_dataset": {"split": "validation"},
            "optimizer": {"_target_": "torch.optim.AdamW", "lr": 2e-3},
            **self.more,
        }


class TestPixelsFromScratch(Diffusion):
    frozen = "down_blocks.*"

    @pytest.fixture
    def model(self):
        return {"_target_": "NeMoAutoDiffusionPipeline.from_config", "unet": LABELLED_UNET}


class TestPixelsWithAnAverage(TestPixelsFromScratch):
    more: ClassVar[dict[str, Any]] = {"ema": {"decay": 0.9}}


class TestLatentsWithLabels(Diffusion):
    frozen = "transformer_blocks.0.*"
    component = "transformer"

    @pytest.fixture
    def model(self, dit):
        return {"_target_": "NeMoAutoDiffusionPipeline", "name_or_path": str(dit)}


class TestLatentsWithPrompts(Diffusion):
    frozen = "down_blocks.*"
    told = "caption"

    @pytest.fixture
    def model(self, stable_diffusion):
        return {"_target_": "NeMoAutoDiffusionPipeline", "name_or_path": str(stable_diffusion)}


class TestLatentsWithPromptsAndATransformer(TestLatentsWithPrompts):
    frozen = "transformer_blocks.0.*"
    component = "transformer"

    @pytest.fixture
    def model(self, stable_diffusion_3):
        return {"_target_": "NeMoAutoDiffusionPipeline", "name_or_path": str(stable_diffusion_3)}
