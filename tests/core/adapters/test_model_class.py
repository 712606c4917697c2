"""What a model class builds, and what it says about what it cannot."""

from __future__ import annotations

import json

import pytest
import torch
from tiny import llama_config
from transformers import LlamaForCausalLM, ViTConfig

from automodel_core.errors import InputError


def said(function, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        function(*args, **kwargs)
    return caught.value.diagnostics


def test_calling_the_class_builds_the_architecture_of_the_path(causal_lm, saved):
    model = causal_lm(name_or_path=str(saved("llama")))
    assert type(model) is LlamaForCausalLM
    assert not model.training


def test_a_blueprint_holds_no_memory_and_knows_its_directory(causal_lm, saved):
    blueprint = causal_lm.blueprint("__call__", name_or_path=str(saved("llama")))
    assert all(weight.is_meta for weight in blueprint.module.parameters())
    assert blueprint.weights_directory == saved("llama")
    assert blueprint.name_or_path == str(saved("llama"))


def test_a_blueprint_from_config_has_no_directory(causal_lm, saved):
    blueprint = causal_lm.blueprint("from_config", name_or_path=str(saved("llama")), num_hidden_layers=1)
    assert blueprint.weights_directory is None
    assert len(blueprint.module.model.layers) == 1


def test_from_config_takes_values(causal_lm):
    values = {"model_type": "llama", "hidden_size": 32, "num_attention_heads": 4, "vocab_size": 40}
    model = causal_lm.from_config(config={**values, "intermediate_size": 8}, num_hidden_layers=1)
    assert model(torch.arange(4)[None]).logits.shape == (1, 4, 40)


def test_extra_keys_change_the_configuration(causal_lm, saved):
    blueprint = causal_lm.blueprint(name_or_path=str(saved("llama")), attention_dropout=0.25, use_cache=False)
    assert blueprint.module.config.attention_dropout == 0.25
    assert blueprint.module.config.use_cache is False


def test_nested_extra_keys_are_merged(causal_lm, saved):
    blueprint = causal_lm.blueprint(name_or_path=str(saved("llama")), rope_parameters={"rope_theta": 123.0})
    assert blueprint.module.config.rope_parameters == {"rope_theta": 123.0, "rope_type": "default"}


def test_unknown_keys_are_all_named_with_suggestions(causal_lm, saved):
    problems = said(causal_lm, name_or_path=str(saved("llama")), atention_dropout=0.1, dtipe="float32")
    assert [problem.code for problem in problems] == ["AM406", "AM406"]
    assert "`atention_dropout`" in problems[0].message
    assert "`attention_dropout`" in problems[0].helps[0]
    assert "`dtype`" in problems[1].helps[0]


def test_a_key_that_the_architecture_ignores_is_refused(causal_lm, saved):
    """NemotronH counts its layers by their types; transformers would ignore ``num_hidden_layers`` in silence."""
    (problem,) = said(causal_lm, name_or_path=str(saved("nemotron_h")), num_hidden_layers=5)
    assert problem.code == "AM407"
    assert "`num_hidden_layers`" in problem.message


def test_a_value_of_the_wrong_kind_is_refused(causal_lm, saved):
    (problem,) = said(causal_lm, name_or_path=str(saved("llama")), hidden_size="wide")
    assert problem.code == "AM407"
    assert "hidden_size" in problem.message


@pytest.mark.parametrize("path", ["./nowhere", "/nowhere/at/all", "nowhere/at/all", "~/nowhere-at-all"])
def test_an_absent_path_is_not_looked_up_elsewhere(causal_lm, path):
    (problem,) = said(causal_lm, name_or_path=path)
    assert problem.code == "AM401"
    assert f"`{path}`" in problem.message


def test_an_absent_directory_beside_others_suggests_them(causal_lm, tmp_path, monkeypatch):
    (tmp_path / "models" / "llama-1b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    (problem,) = said(causal_lm, name_or_path="models/lama-1b")
    assert problem.helps == ("did you mean `llama-1b`?",)


def test_a_hub_id_without_network_or_cache_is_explained(causal_lm, monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    (problem,) = said(causal_lm, name_or_path="someone/some-model")
    assert problem.code == "AM409"
    assert "`someone/some-model`" in problem.message


def test_a_file_is_not_a_model(causal_lm, saved):
    (problem,) = said(causal_lm, name_or_path=str(saved("llama") / "config.json"))
    assert problem.code == "AM401"


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (None, "AM402", "config.json"),
        ("{not json", "AM402", "valid JSON"),
        ("[1]", "AM402", "JSON object"),
        ("{}", "AM403", "model_type"),
        ('{"model_type": "lama"}', "AM403", "`lama`"),
        ('{"model_type": "mine", "auto_map": {"AutoConfig": "m.C"}}', "AM405", "its own code"),
        ('{"model_type": "llama", "hidden_size": "x"}', "AM407", "hidden_size"),
    ],
)
def test_a_directory_that_is_not_a_model_is_explained(causal_lm, tmp_path, content, code, words):
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    (problem,) = said(causal_lm, name_or_path=str(tmp_path))
    assert problem.code == code
    assert words in problem.message


def test_an_unknown_architecture_suggests_a_known_one(causal_lm, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "lama"}')
    (problem,) = said(causal_lm, name_or_path=str(tmp_path))
    assert "`llama`" in problem.helps[0]


def test_a_model_of_another_kind_is_refused(causal_lm, tmp_path):
    ViTConfig(architectures=["ViTForImageClassification"]).save_pretrained(tmp_path)
    (problem,) = said(causal_lm, name_or_path=str(tmp_path))
    assert problem.code == "AM404"
    assert "`ViTForImageClassification`" in problem.message


def test_quantized_weights_are_refused(causal_lm, saved, tmp_path):
    config = json.loads((saved("llama") / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (problem,) = said(causal_lm, name_or_path=str(tmp_path))
    assert problem.code == "AM413"


def test_an_unknown_dtype_is_refused(causal_lm, saved):
    (problem,) = said(causal_lm, name_or_path=str(saved("llama")), dtype="bfloat")
    assert problem.code == "AM408"
    assert "`bfloat16`" in problem.helps[0]


@pytest.mark.parametrize("spelling", ["bf16", "BF16", "bfloat16", "torch.bfloat16", torch.bfloat16])
def test_spellings_of_a_dtype(causal_lm, saved, spelling):
    blueprint = causal_lm.blueprint(name_or_path=str(saved("llama")), torch_dtype=spelling)
    assert blueprint.module.dtype is torch.bfloat16


def test_both_names_of_the_dtype_may_say_the_same_only(causal_lm, saved):
    path = str(saved("llama"))
    assert causal_lm.blueprint(name_or_path=path, dtype="bf16", torch_dtype="bfloat16").module.dtype is torch.bfloat16
    (problem,) = said(causal_lm, name_or_path=path, dtype="bf16", torch_dtype="fp32")
    assert problem.code == "AM408"
    assert problem.helps == ("keep `dtype`",)


def test_an_attention_implementation_that_is_not_there_is_refused(causal_lm, saved):
    (problem,) = said(causal_lm, name_or_path=str(saved("llama")), attn_implementation="nonsense")
    assert problem.code == "AM408"
    assert "nonsense" in problem.message


def test_nothing_named_is_explained(causal_lm):
    (problem,) = said(causal_lm)
    assert problem.code == "AM401"
    assert "`model.name_or_path`" in problem.helps[0]


def test_the_given_configuration_object_is_left_alone(causal_lm):
    config = llama_config()
    causal_lm.from_config(config=config, num_hidden_layers=1)
    causal_lm.from_config(config=config, dtype="bfloat16")
    assert config.num_hidden_layers == 2
    assert config.dtype is None


def test_from_pretrained_takes_no_configuration(causal_lm, saved):
    (problem,) = said(causal_lm, name_or_path=str(saved("llama")), config=llama_config())
    assert "`config`" in problem.message


def test_a_name_of_the_wrong_kind_is_refused(causal_lm):
    (problem,) = said(causal_lm, name_or_path=3)
    assert problem.code == "AM401"


def test_from_config_of_nothing_is_explained(causal_lm):
    (problem,) = said(causal_lm.from_config)
    assert "`model.config`" in problem.helps[0]


@pytest.mark.parametrize("key", ["num_experts", "num_local_experts"])
def test_either_spelling_of_a_key_takes_effect(causal_lm, saved, key):
    blueprint = causal_lm.blueprint("from_config", name_or_path=str(saved("qwen3_moe")), **{key: 6})
    assert blueprint.module.model.layers[0].mlp.experts.gate_up_proj.shape[0] == 6
