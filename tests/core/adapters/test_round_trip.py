"""Loading equals plain transformers bit for bit, and saving gives exactly its keys."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors import safe_open
from transformers import AutoModelForCausalLM

from automodel_core.adapters.transformers import TransformersAdapter
from automodel_core.infrastructure.weights import leaf_over, open_directory

ARCHITECTURES = ["llama", "llama_tied", "qwen3_moe", "nemotron_h", "nemotron_h_moe", "gpt2"]


def tensors(model):
    return {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers())}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "auto"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_loading_is_bit_equal_to_from_pretrained(saved, causal_lm, ids, name, dtype):
    ours = causal_lm(name_or_path=str(saved(name)), dtype=dtype)
    theirs = AutoModelForCausalLM.from_pretrained(saved(name), dtype=dtype)
    got, expected = tensors(ours), tensors(theirs)
    assert {k: v.dtype for k, v in got.items()} == {k: v.dtype for k, v in expected.items()}
    assert [k for k in got if not torch.equal(got[k], expected[k])] == []
    with torch.no_grad():
        assert torch.equal(ours(ids, use_cache=False).logits, theirs(ids, use_cache=False).logits)
    assert ours.training == theirs.training


def test_half_precision_files_fill_full_precision_parameters(causal_lm, tmp_path, saved):
    half = AutoModelForCausalLM.from_pretrained(saved("qwen3_moe"), dtype=torch.bfloat16)
    half.save_pretrained(tmp_path)
    ours = causal_lm(name_or_path=str(tmp_path))
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    assert {p.dtype for p in ours.parameters()} == {torch.float32}
    assert all(torch.equal(p, q) for p, q in zip(ours.parameters(), theirs.parameters(), strict=True))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_unbinding_gives_the_keys_shapes_and_values_that_were_read(saved, causal_lm, name):
    model = causal_lm(name_or_path=str(saved(name)))
    leaves = {key: leaf_over(key, weight) for key, weight in model.state_dict(keep_vars=True).items()}
    written = TransformersAdapter().unbind(model, leaves)
    read = open_directory(saved(name))
    assert {k: tuple(s.shape) for k, s in written.items()} == {k: tuple(s.shape) for k, s in read.items()}
    assert [k for k in read if not torch.equal(written[k].tensor(), read[k].tensor())] == []


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_unbinding_a_fresh_model_gives_what_save_pretrained_would_write(saved, causal_lm, tmp_path, name):
    model = causal_lm.from_config(str(saved(name)))
    leaves = {key: leaf_over(key, weight) for key, weight in model.state_dict(keep_vars=True).items()}
    written = TransformersAdapter().unbind(model, leaves)
    model.save_pretrained(tmp_path)
    with safe_open(tmp_path / "model.safetensors", "pt") as file:
        plain = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    assert {k: s.tensor().sum() for k, s in written.items()} == {k: t.sum() for k, t in plain.items()}


@pytest.mark.parametrize("name", ["llama_tied", "qwen3_moe", "nemotron_h_moe"])
def test_shards_of_any_size_are_read(saved, causal_lm, tmp_path, name):
    theirs = AutoModelForCausalLM.from_pretrained(saved(name))
    theirs.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 3
    ours = causal_lm(name_or_path=str(tmp_path))
    assert all(torch.equal(p, q) for p, q in zip(ours.parameters(), theirs.parameters(), strict=True))


def test_nemotron_checkpoints_with_their_original_names_are_read_and_written_back(saved, causal_lm, tmp_path):
    """Published NemotronH files say ``backbone.`` where transformers says ``model.``."""
    from safetensors.torch import load_file, save_file

    content = load_file(saved("nemotron_h") / "model.safetensors")
    renamed = {key.replace("model.", "backbone.", 1): value for key, value in content.items()}
    save_file(renamed, tmp_path / "model.safetensors", metadata={"format": "pt"})
    (tmp_path / "config.json").write_text((saved("nemotron_h") / "config.json").read_text())
    model = causal_lm(name_or_path=str(tmp_path))
    leaves = {key: leaf_over(key, weight) for key, weight in model.state_dict(keep_vars=True).items()}
    assert set(TransformersAdapter().unbind(model, leaves)) == set(renamed)


def test_binding_reads_no_tensor(saved, causal_lm):
    blueprint = causal_lm.blueprint(name_or_path=str(saved("qwen3_moe")))
    sources = open_directory(saved("qwen3_moe"))
    for source in sources.values():
        source._reader = None  # reading would raise
    bound = blueprint.adapter.bind(blueprint.module, sources)
    assert bound.unused == bound.unbound == ()


def test_ties_survive(saved, causal_lm):
    model = causal_lm(name_or_path=str(saved("llama_tied")))
    assert model.lm_head.weight is model.model.embed_tokens.weight


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_configuration_files_are_those_of_save_pretrained(saved, causal_lm, tmp_path, name):
    model = causal_lm(name_or_path=str(saved(name)))
    TransformersAdapter().save_config(model, tmp_path / "ours")
    AutoModelForCausalLM.from_pretrained(saved(name), dtype=torch.float32).save_pretrained(tmp_path / "theirs")
    for file in ("config.json", "generation_config.json"):
        ours, theirs = (json.loads((tmp_path / side / file).read_text()) for side in ("ours", "theirs"))
        assert ours == theirs


def test_generation_settings_that_contradict_each_other_do_not_stop_saving(saved, causal_lm, tmp_path):
    model = causal_lm(name_or_path=str(saved("llama")))
    model.generation_config.temperature = 0.7  # without sampling: transformers loads this but refuses to save it
    TransformersAdapter().save_config(model, tmp_path)
    assert json.loads((tmp_path / "generation_config.json").read_text())["temperature"] == 0.7
