"""A real config, a real host with the core's own stages, and a tiny Llama on disk."""

from __future__ import annotations

import pytest
import torch
from tiny import llama_config, make_model

from automodel_core.adapters.model_class import TransformersModelClass
from automodel_core.config import load_run_config
from automodel_core.config.vocabulary import core_vocabulary
from automodel_core.infrastructure import stage_hooks
from automodel_core.infrastructure.pipeline import build_infrastructure
from automodel_core.plugins import run_host


class CausalLM(TransformersModelClass):
    auto_class = "AutoModelForCausalLM"


@pytest.fixture(scope="session")
def causal_lm():
    return CausalLM


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("llama"), llama_config(), tokenizer=False)


@pytest.fixture(scope="session")
def untied_llama(tmp_path_factory):
    config = llama_config(tie_word_embeddings=False)
    return make_model(tmp_path_factory.mktemp("untied"), config, tokenizer=False)


@pytest.fixture
def make_config():
    """Return a config with the given sections; what else must be there is there."""

    def make(**sections):
        required = {
            "model": {"_target_": "torch.nn.Identity"},
            "dataset": {"_target_": "torch.nn.Identity"},
            "optimizer": {"_target_": "torch.optim.SGD"},
        }
        return load_run_config({**required, **sections}, vocabulary=core_vocabulary())

    return make


@pytest.fixture
def make_host():
    """Return a host of the core's stages and the given plugin objects."""
    return lambda *plugins: run_host(None, core_plugins=[stage_hooks], user_plugins=plugins)


@pytest.fixture
def build(make_config, make_host):
    """Run the pipeline on a blueprint or module, with config sections by keyword."""

    def run(source, *plugins, restore=None, world_size=1, seed=42, **sections):
        return build_infrastructure(
            make_host(*plugins),
            make_config(**sections),
            source,
            torch.device("cpu"),
            seed,
            restore_directory=restore,
            world_size=world_size,
        )

    return run
