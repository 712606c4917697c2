"""Which parameters train."""

from __future__ import annotations

import pytest

from automodel_core.errors import InputError


@pytest.fixture
def trained(build, causal_lm, llama):
    def names(**sections):
        model = build(causal_lm.blueprint(name_or_path=str(llama)), **sections).model
        return {name for name, parameter in model.named_parameters() if parameter.requires_grad}

    return names


@pytest.fixture
def problems(build, causal_lm, llama):
    def said(**sections):
        with pytest.raises(InputError) as caught:
            build(causal_lm.blueprint(name_or_path=str(llama)), **sections)
        return caught.value.diagnostics

    return said


def test_patterns_freeze_and_exceptions_train(trained):
    everything = trained()
    got = trained(freeze={"patterns": ["model.layers.*"], "trainable": ["*.1.*norm*"]})
    frozen = {name for name in everything if name.startswith("model.layers.")}
    kept = {"model.layers.1.input_layernorm.weight", "model.layers.1.post_attention_layernorm.weight"}
    assert got == everything - frozen | kept


def test_exceptions_alone_freeze_the_rest(trained):
    assert trained(freeze={"trainable": ["model.norm.weight"]}) == {"model.norm.weight"}


def test_either_name_of_a_tied_weight_freezes_it(trained):
    assert "model.embed_tokens.weight" not in trained(freeze={"patterns": ["lm_head.*"]})


def test_a_pattern_that_matches_nothing_is_an_error_with_its_place(problems):
    found = problems(freeze={"patterns": ["model.norm.weigth", "model.embed*"], "trainable": ["nothing"]})
    assert [problem.code for problem in found] == ["AM430", "AM430"]
    assert found[0].helps[0].startswith("did you mean `model.norm.weight`")
    assert all(problem.span is not None for problem in found)


def test_everything_frozen_is_an_error(problems):
    (problem,) = problems(freeze={"patterns": ["*"]})
    assert problem.code == "AM431"


def test_with_adapters_only_they_train(trained):
    assert all(name.rpartition(".")[2].startswith("lora_") for name in trained(peft={"rank": 2}))


def test_some_adapters_can_be_frozen(trained):
    got = trained(peft={"rank": 2}, freeze={"patterns": ["*.layers.0.*"]})
    assert got
    assert all(".layers.1." in name for name in got)


def test_what_an_adapter_checkpoint_would_lose_cannot_train(problems):
    (problem,) = problems(peft={"rank": 2}, freeze={"trainable": ["*norm*"]})
    assert problem.code == "AM432"


def test_parts_are_frozen_by_a_key_of_their_own(trained):
    everything = trained()
    without = everything - trained(freeze={"embeddings": True})
    assert without == {"model.embed_tokens.weight"}
    inside = {name for name in everything if name.startswith("model.")}
    assert trained(freeze={"language_model": True, "trainable": ["model.norm.weight"]}) == (everything - inside) | {
        "model.norm.weight"
    }


def test_a_part_that_the_model_lacks_has_nothing_to_freeze(trained):
    assert trained(freeze={"vision_tower": True, "audio_tower": True}) == trained()
