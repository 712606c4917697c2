"""What holds for every recipe, of the retrieval recipes."""

import pytest
from retrieval_made import make_encoder, pairs, write_rows

from automodel_core.testing.recipe_suite import RecipeSuite


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def data(tmp_path):
    directory = tmp_path / "data"
    directory.mkdir()
    write_rows(directory / "train.jsonl", pairs(12))
    write_rows(directory / "validation.jsonl", pairs(6, seed=1))
    return directory


def config_of(model, encoder, data, **sections):
    return {
        "model": {"_target_": f"{model}.from_pretrained", "name_or_path": str(encoder)},
        "dataset": {"_target_": "RetrievalDataset", "path": str(data)},
        "validation_dataset": {"split": "validation"},
        "retrieval": {"query_max_length": 16, "document_max_length": 32},
        "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-3},
        **sections,
    }


class TestBiEncoder(RecipeSuite):
    route = "finetune retrieval"
    frozen = "*embeddings*"
    same_over_micro_batches = False

    @pytest.fixture
    def config(self, encoder, data):
        return config_of("NeMoAutoModelBiEncoder", encoder, data)


class TestBiEncoderWithItsOwnNegatives(RecipeSuite):
    route = "finetune retrieval"
    frozen = "query_encoder.*"

    @pytest.fixture
    def config(self, encoder, data):
        loss = {"_target_": "InfoNCE", "in_batch_negatives": False}
        config = config_of("NeMoAutoModelBiEncoder", encoder, data, loss_fn=loss)
        config["model"] |= {"share_encoder": False, "learn_temperature": True}
        config["retrieval"]["gradient_cache_chunk"] = 3
        return config


class TestCrossEncoder(RecipeSuite):
    route = "finetune retrieval"
    frozen = "*embeddings*"

    @pytest.fixture
    def config(self, encoder, data):
        return config_of("NeMoAutoModelCrossEncoder", encoder, data, recipe="TrainCrossEncoderRecipe")
