"""The suite of every recipe, on vision-language models: one token for each patch, and crops of several kinds."""

import pytest
from tiny_vlm import make_idefics3, make_llava, write_questions

from automodel_core.testing.recipe_suite import RecipeSuite


@pytest.fixture(scope="module")
def llava(tmp_path_factory):
    return make_llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="module")
def idefics3(tmp_path_factory):
    return make_idefics3(tmp_path_factory.mktemp("idefics3"))


class VisionLanguage(RecipeSuite):
    route = "finetune vlm"

    @pytest.fixture
    def config(self, model, tmp_path):
        return {
            "model": {"_target_": "NeMoAutoModelForImageTextToText.from_pretrained", "name_or_path": str(model)},
            "dataset": {
                "_target_": "VisualQuestionDataset",
                "path": str(write_questions(tmp_path / "data")),
                "max_seq_length": 128,
            },
            "validation_dataset": {"split": "validation"},
            "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-3},
        }


class TestLlava(VisionLanguage):
    frozen = "model.vision_tower.*"

    @pytest.fixture
    def model(self, llava):
        return llava


class TestIdefics3(VisionLanguage):
    frozen = "model.text_model.*"

    @pytest.fixture
    def model(self, idefics3):
        return idefics3
