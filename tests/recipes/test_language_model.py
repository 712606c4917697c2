"""The suite of every recipe, on a tiny Llama."""

import pytest
from tiny import llama_config, make_model, write_squad

from automodel_core.testing.recipe_suite import RecipeSuite


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("llama"), llama_config())


class TestCausalLanguageModel(RecipeSuite):
    route = "finetune llm"
    frozen = "model.layers.0.*"

    @pytest.fixture
    def config(self, llama, tmp_path):
        return {
            "model": {"_target_": "NeMoAutoModelForCausalLM.from_pretrained", "name_or_path": str(llama)},
            "dataset": {
                "_target_": "SquadDataset",
                "path": str(write_squad(tmp_path / "squad.json", 24)),
                "tokenizer_name_or_path": str(llama),
                "max_seq_length": 64,
            },
            "validation_dataset": {"split": "validation"},
            "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-3},
        }
