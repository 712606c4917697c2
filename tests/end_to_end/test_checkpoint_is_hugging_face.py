"""A checkpoint is a directory that transformers and peft load as is, with the same logits."""

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from tiny import llama_config, make_model
from transformers import AutoModelForCausalLM, AutoTokenizer

import automodel_core as am


def logits(model):
    ids = torch.arange(2, 14)[None]
    with torch.no_grad():
        return model.eval()(input_ids=ids).logits


def keys_and_shapes(directory):
    found = {}
    for file in Path(directory).glob("*.safetensors"):
        with safe_open(file, "pt") as tensors:
            found |= {k: (tensors.get_slice(k).get_shape(), tensors.get_slice(k).get_dtype()) for k in tensors.keys()}  # noqa: SIM118
    return found


def last_checkpoint(config) -> Path:
    home = Path(config["checkpoint"]["directory"])
    return home / (home / "latest").read_text().strip()


@pytest.mark.parametrize("architecture", ["tied llama", "untied llama", "nemotron_h", "qwen3_moe"])
def test_transformers_loads_it_and_save_pretrained_writes_the_same_keys(small_config, tmp_path, architecture, request):
    if architecture == "nemotron_h":
        directory = request.getfixturevalue("nemotron_h")
    elif architecture == "qwen3_moe":
        from transformers import Qwen3MoeConfig

        moe = Qwen3MoeConfig(
            vocab_size=300, hidden_size=32, intermediate_size=64, moe_intermediate_size=16, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, head_dim=8, num_experts=4, num_experts_per_tok=2,
        )  # fmt: skip
        directory = make_model(tmp_path / "model", moe)
    else:
        config = llama_config(tie_word_embeddings=architecture == "tied llama")
        directory = make_model(tmp_path / "model", config)
    small_config["model"]["name_or_path"] = str(directory)
    recipe = am.run(small_config, route="finetune llm")
    saved = last_checkpoint(small_config)

    model, report = AutoModelForCausalLM.from_pretrained(saved, dtype=torch.float32, output_loading_info=True)
    assert not any(report[k] for k in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert torch.equal(logits(model), logits(recipe.run.model))
    model.save_pretrained(tmp_path / "again")
    assert keys_and_shapes(saved) == keys_and_shapes(tmp_path / "again")
    ours, theirs = (json.loads((d / "config.json").read_text()) for d in (saved, tmp_path / "again"))
    assert ours == theirs
    assert AutoTokenizer.from_pretrained(saved)("How")["input_ids"]


def test_peft_loads_the_adapter_of_a_lora_run(small_config, llama):
    from peft import PeftModel

    small_config["peft"] = {"rank": 4, "alpha": 8, "target_modules": "all-linear"}
    recipe = am.run(small_config, route="finetune llm")
    saved = last_checkpoint(small_config)
    assert not list(saved.glob("model*.safetensors"))
    base = AutoModelForCausalLM.from_pretrained(llama, dtype=torch.float32)
    untouched = logits(base)
    adapted = PeftModel.from_pretrained(base, saved)
    assert torch.allclose(logits(adapted), logits(recipe.run.model), atol=1e-6)
    assert not torch.allclose(logits(adapted), untouched, atol=1e-4)
    from peft import get_peft_model_state_dict

    assert get_peft_model_state_dict(adapted).keys() == load_file(saved / "adapter_model.safetensors").keys()


def test_only_adapters_train_under_lora(small_config):
    small_config["peft"] = {"rank": 4}
    recipe = am.run(small_config, route="finetune llm")
    trainable = [n for n, p in recipe.run.model.named_parameters() if p.requires_grad]
    assert trainable
    assert all("lora_" in name for name in trainable)


def test_frozen_parameters_stay_as_they_were(small_config, llama):
    small_config["freeze"] = {"patterns": ["model.layers.0.*", "*embed_tokens*"]}
    am.run(small_config, route="finetune llm")
    before, after = (
        load_file(llama / "model.safetensors"),
        load_file(last_checkpoint(small_config) / "model.safetensors"),
    )
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert not any(name.startswith(("model.layers.0.", "model.embed_tokens")) for name in changed)
    assert any(name.startswith("model.layers.1.") for name in changed)


def test_shards_of_a_bounded_size_load_as_well(small_config):
    small_config["checkpoint"]["max_shard_size"] = "40KB"
    recipe = am.run(small_config, route="finetune llm")
    saved = last_checkpoint(small_config)
    assert len(list(saved.glob("model-*.safetensors"))) > 2
    model = AutoModelForCausalLM.from_pretrained(saved, dtype=torch.float32)
    assert torch.equal(logits(model), logits(recipe.run.model))


def test_only_the_last_checkpoints_are_kept_when_asked(small_config):
    small_config["checkpoint"]["keep_last"] = 2
    small_config["step_scheduler"] |= {"checkpoint_interval": 1}
    am.run(small_config, route="finetune llm")
    home = Path(small_config["checkpoint"]["directory"])
    assert sorted(p.name for p in home.glob("step-*")) == ["step-3", "step-4"]
    assert not list(home.glob(".step-*"))


def test_pretraining_starts_from_the_seed_and_not_from_the_weights(small_config, llama, records):
    """`from_config` reads the architecture alone; the same seed gives the same start."""
    small_config["model"] = {
        "_target_": "NeMoAutoModelForCausalLM.from_config",
        "name_or_path": str(llama),
        "hidden_size": 48,
    }
    am.run(small_config, route="pretrain llm")
    first = records(small_config["checkpoint"]["directory"], "step")
    assert json.loads((last_checkpoint(small_config) / "config.json").read_text())["hidden_size"] == 48
    small_config["checkpoint"]["directory"] += "-again"
    am.run(small_config, route="pretrain llm")
    again = records(small_config["checkpoint"]["directory"], "step")
    assert [s["loss"] for s in first] == [s["loss"] for s in again]
