"""Blocks, output heads, bypassed layers and FLOPs."""

from __future__ import annotations

import pytest
from tiny import llama_config
from transformers import AutoModelForCausalLM

from automodel_core.adapters.transformers import TransformersAdapter

ADAPTER = TransformersAdapter()


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [("llama", 2, "model.layers.0"), ("nemotron_h", 3, "model.layers.0"), ("gpt2", 2, "transformer.h.0")],
)
def test_blocks_are_the_decoder_layers_in_order(causal_lm, saved, name, count, first):
    model = causal_lm.blueprint(name_or_path=str(saved(name))).module
    blocks = ADAPTER.blocks(model)
    assert blocks[0][0] == first
    assert len(blocks) == count
    assert all(model.get_submodule(block_name) is block for block_name, block in blocks)


def test_a_model_that_declares_no_blocks_has_its_longest_module_list(causal_lm, saved):
    model = causal_lm.blueprint(name_or_path=str(saved("llama"))).module
    model._no_split_modules = None
    assert [name for name, _ in ADAPTER.blocks(model)] == ["model.layers.0", "model.layers.1"]


def test_the_output_head_is_known(causal_lm, saved):
    assert ADAPTER.output_head(causal_lm.blueprint(name_or_path=str(saved("llama_tied"))).module) == "lm_head"


def test_projections_that_a_fused_kernel_reads_are_known(causal_lm, saved):
    assert set(ADAPTER.bypassed_layers(causal_lm.blueprint(name_or_path=str(saved("nemotron_h"))).module)) == {
        "model.layers.0.mixer.out_proj"
    }
    assert ADAPTER.bypassed_layers(causal_lm.blueprint(name_or_path=str(saved("llama"))).module) == {}


def test_dense_flops_are_six_per_weight_plus_attention():
    model = AutoModelForCausalLM.from_config(llama_config(tie_word_embeddings=False))
    matrices = sum(p.numel() for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n)
    assert ADAPTER.flops_per_token(model, 128) == 6 * matrices + 12 * 2 * 4 * 8 * 128


def test_a_tied_head_still_multiplies():
    tied, untied = (AutoModelForCausalLM.from_config(llama_config(tie_word_embeddings=tie)) for tie in (True, False))
    assert ADAPTER.flops_per_token(tied, 64) == ADAPTER.flops_per_token(untied, 64)


def test_only_the_experts_that_a_token_visits_count(causal_lm, saved):
    model = causal_lm.blueprint(name_or_path=str(saved("qwen3_moe"))).module
    experts = sum(p.numel() for n, p in model.named_parameters() if ".experts." in n)
    others = sum(
        p.numel() for n, p in model.named_parameters() if p.ndim >= 2 and ".experts." not in n and "embed" not in n
    )
    assert ADAPTER.flops_per_token(model, 64) == 6 * (experts / 2 + others) + 12 * 2 * 4 * 8 * 64


def test_a_frozen_weight_has_no_gradient_to_compute():
    model = AutoModelForCausalLM.from_config(llama_config(tie_word_embeddings=False))
    before = ADAPTER.flops_per_token(model, 64)
    model.lm_head.weight.requires_grad_(False)
    assert ADAPTER.flops_per_token(model, 64) == before - 2 * model.lm_head.weight.numel()


def test_layers_without_attention_do_not_attend(causal_lm, saved):
    model = causal_lm.blueprint(name_or_path=str(saved("nemotron_h"))).module
    growth = ADAPTER.flops_per_token(model, 200) - ADAPTER.flops_per_token(model, 100)
    assert growth == 12 * 1 * 4 * 8 * 100
