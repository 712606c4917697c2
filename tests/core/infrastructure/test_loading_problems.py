"""Whatever does not fit between a checkpoint and a model is said, all of it at once."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from automodel_core.errors import InputError


@pytest.fixture
def edited(untied_llama, tmp_path):
    """Return a copy of a Llama directory after ``change`` of its tensors, with keys of its config replaced."""

    def edit(change=lambda tensors: None, source=untied_llama, **config):
        directory = tmp_path / "model"
        shutil.copytree(source, directory)
        tensors = load_file(directory / "model.safetensors")
        change(tensors)
        save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
        content = json.loads((directory / "config.json").read_text())
        (directory / "config.json").write_text(json.dumps({**content, **config}))
        return directory

    return edit


@pytest.fixture
def problems(build, causal_lm):
    def said(directory, **keys):
        with pytest.raises(InputError) as caught:
            build(causal_lm.blueprint(name_or_path=str(directory), **keys))
        return caught.value.diagnostics

    return said


def test_weights_without_a_place_are_named(edited, problems):
    (problem,) = problems(edited(lambda t: t.update({"model.extra.weight": torch.ones(2)})))
    assert problem.code == "AM414"
    assert "`model.extra.weight`" in problem.message
    assert "1 weight " in problem.message


def test_missing_weights_are_named(edited, problems):
    (problem,) = problems(edited(lambda t: t.pop("model.norm.weight")))
    assert problem.code == "AM415"
    assert "`model.norm.weight`" in problem.message


def test_a_renamed_weight_is_recognised(edited, problems):
    found = problems(edited(lambda t: t.update({"model.norms.weight": t.pop("model.norm.weight")})))
    assert [problem.code for problem in found] == ["AM414", "AM415"]
    assert found[0].helps[0] == "did you mean `model.norm.weight`?"


def test_fewer_layers_than_the_files_hold_is_an_error(edited, problems):
    (problem,) = problems(edited(), num_hidden_layers=1)
    assert problem.code == "AM414"
    assert "`model.layers.1." in problem.message


def test_all_differing_shapes_stand_in_one_table(edited, problems):
    (problem,) = problems(edited(), intermediate_size=96, num_hidden_layers=2)
    assert problem.code == "AM416"
    rows = problem.message.splitlines()[1:]
    assert len(rows) == 6
    assert "model.layers.0.mlp.down_proj.weight  files (32, 64)  model (32, 96)" in rows[0]


def test_an_output_head_that_is_missing_is_an_error(edited, problems):
    (problem,) = problems(edited(lambda t: t.pop("lm_head.weight")))
    assert problem.code == "AM415"
    assert "`lm_head.weight`" in problem.message


def test_buffers_of_old_releases_are_ignored(edited, build, causal_lm):
    directory = edited(lambda t: t.update({"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(4)}))
    build(causal_lm.blueprint(name_or_path=str(directory)))


def test_either_end_of_a_tie_feeds_both(edited, build, causal_lm, llama):
    def move(tensors):
        tensors["lm_head.weight"] = tensors.pop("model.embed_tokens.weight") + 1

    directory = edited(move, source=llama)
    model = build(causal_lm.blueprint(name_or_path=str(directory))).model
    assert model.lm_head.weight is model.model.embed_tokens.weight
    assert torch.equal(model.lm_head.weight, load_file(directory / "model.safetensors")["lm_head.weight"])


def test_both_ends_of_a_tie_may_be_there_when_they_agree(edited, build, causal_lm, llama):
    directory = edited(lambda t: t.update({"lm_head.weight": t["model.embed_tokens.weight"].clone()}), source=llama)
    build(causal_lm.blueprint(name_or_path=str(directory)))


def test_two_values_for_a_tied_weight_are_refused(edited, problems, llama, build, causal_lm):
    directory = edited(lambda t: t.update({"lm_head.weight": t["model.embed_tokens.weight"] + 1}), source=llama)
    (problem,) = problems(directory)
    assert problem.code == "AM417"
    build(causal_lm.blueprint(name_or_path=str(directory), tie_word_embeddings=False))


def test_experts_of_another_number_are_an_error(tmp_path, problems):
    from transformers import AutoModelForCausalLM, Qwen3MoeConfig

    config = Qwen3MoeConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=24,
        moe_intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=8,
        num_experts=4,
    )
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
    (problem,) = problems(tmp_path, num_experts=8)
    assert problem.code == "AM416"
    assert "experts.gate_up_proj" in problem.message


def test_adapters_without_a_peft_section_are_explained(build, causal_lm, llama, tmp_path):
    save_file({"base_model.model.a.lora_A.weight": torch.ones(1)}, tmp_path / "adapter_model.safetensors")
    with pytest.raises(InputError) as caught:
        build(causal_lm.blueprint(name_or_path=str(llama)), restore=tmp_path)
    assert caught.value.diagnostics[0].code == "AM425"
