"""Weights without a checkpoint start as the model's own code says, and buffers that no file holds are computed."""

from __future__ import annotations

import pytest
import torch
from tiny import llama_config
from transformers import AutoModelForCausalLM, Gemma2Config

from automodel_core.adapters.transformers import TransformersAdapter
from automodel_core.errors import AutomodelError

SCALINGS = {
    "default": {"rope_type": "default", "rope_theta": 5e5},
    "linear": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4},
    "dynamic": {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 1e4},
    "llama3": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
        "rope_theta": 5e5,
    },
}


@pytest.mark.parametrize("scaling", SCALINGS)
def test_rotary_buffers_of_every_scaling_are_those_of_transformers(causal_lm, tmp_path, ids, scaling):
    theirs = AutoModelForCausalLM.from_config(llama_config(rope_parameters=SCALINGS[scaling])).eval()
    theirs.save_pretrained(tmp_path)
    ours = causal_lm(name_or_path=str(tmp_path))
    got, expected = dict(ours.named_buffers()), dict(theirs.named_buffers())
    assert got.keys() == expected.keys() != set()
    assert [name for name in got if not torch.equal(got[name], expected[name])] == []
    with torch.no_grad():
        assert torch.equal(ours(ids).logits, theirs(ids).logits)


def test_other_unsaved_buffers_are_computed(causal_lm, tmp_path, ids):
    """Gemma keeps the scale of its embedding in a buffer that no file holds."""
    config = Gemma2Config(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
    )
    theirs = AutoModelForCausalLM.from_config(config).eval()
    theirs.save_pretrained(tmp_path)
    ours = causal_lm(name_or_path=str(tmp_path))
    expected = dict(theirs.named_buffers())
    assert [n for n, buffer in ours.named_buffers() if not torch.equal(buffer, expected[n])] == []


def test_a_buffer_that_the_model_does_not_compute_is_named(causal_lm, saved):
    blueprint = causal_lm.blueprint(name_or_path=str(saved("llama")))
    blueprint.module.model.register_buffer("table", torch.empty(3, device="meta"), persistent=False)
    blueprint.module.to_empty(device="cpu")
    with pytest.raises(AutomodelError, match=r"`model\.table`"):
        TransformersAdapter().rebuild_buffers(blueprint.module, torch.device("cpu"))


def test_rebuilding_buffers_changes_no_weight(causal_lm, saved):
    model = causal_lm(name_or_path=str(saved("nemotron_h_moe")))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    TransformersAdapter().rebuild_buffers(model, torch.device("cpu"))
    assert [name for name, value in model.state_dict().items() if not torch.equal(value, before[name])] == []


@pytest.mark.parametrize("name", ["llama", "llama_tied", "qwen3_moe", "nemotron_h_moe", "gpt2"])
def test_a_model_from_a_seed_starts_like_a_plain_one(saved, causal_lm, name):
    """Not the same numbers, since those must not depend on the layout of ranks, but the same spread of each weight."""
    model = causal_lm.from_config(str(saved(name)), seed=1)
    torch.manual_seed(1)
    plain = dict(AutoModelForCausalLM.from_config(model.config).named_parameters())
    assert dict(model.named_parameters()).keys() == plain.keys()
    for key, weight in model.named_parameters():
        if weight.numel() >= 512 and plain[key].std() > 0:
            assert weight.std().item() == pytest.approx(plain[key].std().item(), rel=0.15), key
            assert weight.mean().item() == pytest.approx(plain[key].mean().item(), abs=plain[key].std().item() / 4), key
        elif plain[key].std() == 0 or weight.numel() == 1:
            assert torch.equal(weight, plain[key]), key


def test_values_that_a_model_computes_are_exact(saved, causal_lm):
    model = causal_lm.from_config(str(saved("nemotron_h")))
    mixer = model.model.layers[0].mixer
    assert torch.equal(mixer.A_log, torch.log(torch.arange(1, 9)))
    assert (
        0 < torch.nn.functional.softplus(mixer.dt_bias).min() < torch.nn.functional.softplus(mixer.dt_bias).max() < 0.11
    )


def test_the_seed_decides(saved, causal_lm):
    def weights(seed):
        return torch.cat([p.flatten() for p in causal_lm.from_config(str(saved("nemotron_h")), seed=seed).parameters()])

    first = weights(1)
    torch.rand(3)  # the global random state plays no part
    assert torch.equal(first, weights(1))
    assert not torch.equal(first, weights(2))


def test_the_padding_row_starts_at_zero(causal_lm):
    model = causal_lm.from_config(config=llama_config(tie_word_embeddings=False))
    assert (model.model.embed_tokens.weight == 0).all(dim=1).nonzero().flatten().tolist() == [1]
