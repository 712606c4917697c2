"""Adapters in the pipeline: names, start values, dropout, files to continue from."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from automodel_core.errors import InputError
from automodel_core.infrastructure.peft import LoRALinear, adapter_state_dict

IDS = torch.arange(10)[None] + 3


@pytest.fixture
def adapted(build, causal_lm, llama):
    def make(restore=None, seed=42, **peft):
        blueprint = causal_lm.blueprint(name_or_path=str(llama))
        return build(blueprint, restore=restore, seed=seed, peft={"rank": 4, **peft}).model

    return make


@pytest.fixture
def base(build, causal_lm, llama):
    return build(causal_lm.blueprint(name_or_path=str(llama))).model


def said(function, **kwargs):
    with pytest.raises(InputError) as caught:
        function(**kwargs)
    return caught.value.diagnostics


def test_base_names_and_values_are_unchanged(adapted, base):
    model = adapted()
    expected, got = dict(base.named_parameters()), dict(model.named_parameters())
    assert {name for name in got if not name.rpartition(".")[2].startswith("lora_")} == set(expected)
    assert all(torch.equal(got[name], expected[name]) for name in expected)


def test_fresh_adapters_change_nothing(adapted, base):
    with torch.no_grad():
        assert torch.equal(adapted().eval()(IDS).logits, base.eval()(IDS).logits)


def test_start_values_come_from_the_seed(adapted):
    first, again, other = (adapted(seed=seed).model.layers[0].mlp.up_proj for seed in (1, 1, 2))
    assert torch.equal(first.lora_A, again.lora_A)
    assert not torch.equal(first.lora_A, other.lora_A)
    assert first.lora_A.abs().max().item() <= 1 / 32**0.5
    assert first.lora_A.std().item() == pytest.approx((1 / 32**0.5) / 3**0.5, rel=0.15)
    assert (first.lora_B == 0).all()


def test_dropout_acts_in_training_only_and_follows_the_random_state(adapted):
    model = adapted(dropout=0.5)
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, LoRALinear):
                layer.lora_B.normal_(std=0.1)
        evaluated = [model.eval()(IDS).logits for _ in range(2)]
        model.train()
        drawn = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            drawn.append(model(IDS).logits)
    assert torch.equal(*evaluated)
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_a_run_continues_with_its_adapters_over_the_original_weights(adapted, tmp_path):
    first = adapted()
    with torch.no_grad():
        for name, parameter in first.named_parameters():
            if "lora_" in name:
                parameter.add_(0.01)
    save_file(adapter_state_dict(first), tmp_path / "adapter_model.safetensors")
    again = adapted(restore=tmp_path)
    got = dict(again.named_parameters())
    assert all(torch.equal(got[name], parameter) for name, parameter in first.named_parameters())


def test_a_checkpoint_without_adapters_is_refused(adapted, llama):
    (problem,) = said(adapted, restore=llama)
    assert problem.code == "AM424"
    assert "has no `adapter_model.safetensors`" in problem.message


def test_adapters_of_other_layers_are_refused(adapted, tmp_path):
    save_file(adapter_state_dict(adapted(target_modules="q_proj")), tmp_path / "adapter_model.safetensors")
    (problem,) = said(adapted, restore=tmp_path, target_modules="v_proj")
    assert problem.code == "AM424"
    assert "lacks 4 adapter weights" in problem.message
    assert "holds 4 that this run has no layer for" in problem.message


def test_adapters_of_another_rank_are_refused(adapted, tmp_path):
    save_file(adapter_state_dict(adapted()), tmp_path / "adapter_model.safetensors")
    (problem,) = said(adapted, restore=tmp_path, rank=8)
    assert problem.code == "AM424"
    assert "`peft.rank`" in problem.helps[0]


def test_a_target_that_matches_nothing_has_its_place(adapted):
    (problem,) = said(adapted, target_modules=["q_proj", "k_porj"])
    assert problem.code == "AM420"
    assert problem.span is not None


def test_a_plain_module_gets_adapters_where_it_is(build):
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    inputs = torch.randn(3, 4)
    before = model(inputs)
    built = build(model, peft={"rank": 2, "target_modules": ["0"]})
    assert torch.equal(built.model(inputs), before)
    assert [n for n, p in built.model.named_parameters() if p.requires_grad] == ["0.lora_A", "0.lora_B"]
    assert built.model[0].lora_A.abs().sum() > 0


@pytest.mark.parametrize("shape", [(6,), (5, 6), (2, 5, 6), (0, 6)])
@pytest.mark.parametrize("bias", [False, True])
def test_training_adds_the_scaled_product_to_the_layer_for_any_leading_shape(shape, bias):
    layer = LoRALinear.convert(nn.Linear(6, 3, bias=bias), rank=2, alpha=3.0, dropout=0.0, use_rslora=False).train()
    for part in (layer.lora_A, layer.lora_B):
        nn.init.normal_(part)
    given = torch.randn(shape)
    expected = nn.functional.linear(given, layer.weight + 1.5 * layer.lora_B @ layer.lora_A, layer.bias)
    torch.testing.assert_close(layer(given), expected)
