"""Tiny models of several architectures, saved by plain transformers."""

from __future__ import annotations

import pytest
import torch
from tiny import llama_config, make_model, nemotron_h_config
from transformers import GPT2Config, Qwen3MoeConfig

from automodel_core.adapters.model_class import TransformersModelClass

CONFIGS = {
    "llama": lambda: llama_config(tie_word_embeddings=False),
    "llama_tied": lambda: llama_config(),
    "qwen3_moe": lambda: Qwen3MoeConfig(
        vocab_size=300,
        hidden_size=32,
        intermediate_size=48,
        moe_intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        num_experts=4,
        num_experts_per_tok=2,
    ),
    "nemotron_h": lambda: nemotron_h_config(),
    "nemotron_h_moe": lambda: nemotron_h_config(
        layers_block_type=["linear_attention", "moe", "full_attention", "mlp"],
        n_routed_experts=4,
        moe_intermediate_size=24,
        moe_shared_expert_intermediate_size=24,
    ),
    "gpt2": lambda: GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=4, n_positions=64),
}


class CausalLM(TransformersModelClass):
    auto_class = "AutoModelForCausalLM"


@pytest.fixture(scope="session")
def causal_lm():
    return CausalLM


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """Return the directory of a saved model by architecture, made once."""
    made = {}

    def directory(name):
        if name not in made:
            made[name] = make_model(tmp_path_factory.mktemp(name), CONFIGS[name](), tokenizer=False)
        return made[name]

    return directory


@pytest.fixture
def ids():
    return torch.arange(12)[None] + 5
