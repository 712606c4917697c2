"""The stages before weights are read, and everything that is wrong with them at once."""

from __future__ import annotations

import pytest
import torch

from automodel_core.errors import InputError
from automodel_core.infrastructure.pipeline import describe_infrastructure, realise_infrastructure

CPU = torch.device("cpu")


def codes(error):
    return sorted(d.code for d in error.value.diagnostics)


def test_a_description_has_no_values_and_becomes_the_model(make_config, make_host, causal_lm, llama):
    config, host = make_config(peft={"target_modules": ["q_proj"]}), make_host()
    blueprint = causal_lm.blueprint("from_pretrained", name_or_path=str(llama))
    build = describe_infrastructure(host, config, blueprint, CPU, 0)
    assert all(weight.is_meta for weight in build.model.parameters())
    assert {name for name, weight in build.model.named_parameters() if weight.requires_grad} == set(
        build.peft.parameter_names
    )
    model = realise_infrastructure(host, config, build).model
    assert not any(weight.is_meta for weight in model.parameters())
    assert list(build.seconds) == ["peft", "load", "freeze", "device"]


def test_stages_that_do_not_follow_from_each_other_are_all_judged(make_config, make_host, causal_lm, llama, tmp_path):
    (tmp_path / "config.json").write_bytes((llama / "config.json").read_bytes())
    blueprint = causal_lm.blueprint("from_pretrained", name_or_path=str(tmp_path))
    config = make_config(freeze={"patterns": ["nothing.*"]}, fp8={"enabled": True})
    with pytest.raises(InputError) as error:
        describe_infrastructure(make_host(), config, blueprint, CPU, 0)
    assert codes(error) == ["AM410", "AM430", "AM440"]


def test_what_follows_from_a_failed_stage_is_not_judged(make_config, make_host, causal_lm, llama):
    blueprint = causal_lm.blueprint("from_pretrained", name_or_path=str(llama))
    config = make_config(peft={"target_modules": ["nothing"]}, freeze={"trainable": ["*lora_A*"]})
    with pytest.raises(InputError) as error:
        describe_infrastructure(make_host(), config, blueprint, CPU, 0)
    assert codes(error) == ["AM420"]
