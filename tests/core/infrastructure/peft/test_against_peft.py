"""Our adapters compute what peft's do, and peft loads our files."""

from __future__ import annotations

import json

import peft
import pytest
import torch
from safetensors.torch import save_file
from tiny import make_model, nemotron_h_config
from transformers import AutoModelForCausalLM

from automodel_core.infrastructure.peft import LoRALinear, PeftLayers, adapter_config, adapter_state_dict

IDS = torch.arange(10)[None] + 3

SETTINGS = [
    {"rank": 4},
    {"rank": 4, "alpha": 3, "use_rslora": True},
    {"rank": 2, "target_modules": ["q_proj", "v_proj"]},
    {"rank": 2, "target_modules": ["model.layers.1.*proj"]},
    {"rank": 2, "target_modules": ["lm_head", "q_proj"]},
]


@pytest.fixture(scope="module")
def nemotron_h(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("nemotron"), nemotron_h_config(), tokenizer=False)


def trained(built):
    """Give both matrices values, so that the adapters do something."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in built.model.named_parameters():
            if ".lora_" in name:
                parameter.normal_(std=0.1, generator=generator)
    return built.model.eval()


def save(model, settings, base, directory):
    layers = PeftLayers((), settings.rank, settings.alpha, settings.dropout, settings.use_rslora, task="CAUSAL_LM")
    save_file(adapter_state_dict(model, layers), directory / "adapter_model.safetensors")
    (directory / "adapter_config.json").write_text(json.dumps(adapter_config(settings, model, str(base), layers)))


@pytest.mark.parametrize("section", SETTINGS)
def test_peft_loads_our_files_and_gives_the_same_logits(build, make_config, causal_lm, untied_llama, tmp_path, section):
    model = trained(build(causal_lm.blueprint(name_or_path=str(untied_llama)), peft=section))
    save(model, make_config(peft=section).peft, untied_llama, tmp_path)
    plain = AutoModelForCausalLM.from_pretrained(untied_llama, dtype=torch.float32)
    theirs = peft.PeftModel.from_pretrained(plain, tmp_path)
    loaded = peft.get_peft_model_state_dict(theirs, save_embedding_layers=False)
    assert loaded.keys() == adapter_state_dict(model).keys()
    with torch.no_grad():
        assert torch.equal(model(IDS).logits, theirs(IDS).logits)


def test_all_linear_means_the_layers_that_peft_means(build, causal_lm, untied_llama):
    model = build(causal_lm.blueprint(name_or_path=str(untied_llama)), peft={"rank": 2}).model
    ours = {name for name, module in model.named_modules() if isinstance(module, LoRALinear)}
    plain = AutoModelForCausalLM.from_pretrained(untied_llama)
    theirs = peft.get_peft_model(plain, peft.LoraConfig(r=2, target_modules="all-linear"))
    assert ours == {
        name.removeprefix("base_model.model.")
        for name, module in theirs.named_modules()
        if isinstance(module, peft.tuners.lora.Linear)
    }


def test_state_space_models_get_adapters_that_peft_accepts(build, make_config, causal_lm, nemotron_h, tmp_path):
    section = {"rank": 2}
    model = trained(build(causal_lm.blueprint(name_or_path=str(nemotron_h)), peft=section))
    adapted = {name for name, module in model.named_modules() if isinstance(module, LoRALinear)}
    assert "model.layers.0.mixer.in_proj" in adapted
    assert "model.layers.0.mixer.out_proj" not in adapted
    save(model, make_config(peft=section).peft, nemotron_h, tmp_path)
    plain = AutoModelForCausalLM.from_pretrained(nemotron_h, dtype=torch.float32)
    theirs = peft.PeftModel.from_pretrained(plain, tmp_path)
    with torch.no_grad():
        assert torch.equal(model(IDS, use_cache=False).logits, theirs(IDS, use_cache=False).logits)


def test_a_half_precision_base_gives_the_same_logits(build, make_config, causal_lm, untied_llama, tmp_path):
    blueprint = causal_lm.blueprint(name_or_path=str(untied_llama), dtype="bfloat16")
    model = trained(build(blueprint, peft={"rank": 4}))
    assert {p.dtype for n, p in model.named_parameters() if "lora_" in n} == {torch.float32}
    save(model, make_config(peft={"rank": 4}).peft, untied_llama, tmp_path)
    plain = AutoModelForCausalLM.from_pretrained(untied_llama, dtype=torch.bfloat16)
    theirs = peft.PeftModel.from_pretrained(plain, tmp_path)
    with torch.no_grad():
        assert torch.equal(model(IDS).logits, theirs(IDS).logits)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("section", [{"rank": 4, "alpha": 8}, {"rank": 4, "alpha": 3, "use_rslora": True}])
def test_gradients_equal_those_of_peft(build, make_config, causal_lm, untied_llama, tmp_path, section, training):
    model = trained(build(causal_lm.blueprint(name_or_path=str(untied_llama)), peft=section))
    save(model, make_config(peft=section).peft, untied_llama, tmp_path)
    plain = AutoModelForCausalLM.from_pretrained(untied_llama, dtype=torch.float32)
    theirs = peft.PeftModel.from_pretrained(plain, tmp_path, is_trainable=True)
    losses = []
    for each in (model, theirs):
        loss = each.train(training)(IDS, labels=IDS).loss
        loss.backward()
        losses.append(loss.detach())
    torch.testing.assert_close(*losses, rtol=1e-6, atol=0)
    expected = {
        name.removeprefix("base_model.model.").replace(".default.weight", ""): parameter.grad
        for name, parameter in theirs.named_parameters()
        if parameter.requires_grad
    }
    got = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert got.keys() == expected.keys()
    assert all(torch.allclose(got[name], expected[name], rtol=1e-5, atol=1e-7) for name in got)
