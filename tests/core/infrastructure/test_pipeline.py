"""From a blueprint or a module to a model that trains, through the hooks of a real host."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModelForCausalLM

import automodel_core as am
from automodel_core.errors import InputError, PluginError
from automodel_core.infrastructure.blueprint import Blueprint
from automodel_core.infrastructure.plain_adapter import PlainAdapter

IDS = torch.arange(8)[None]


def problems(function, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        function(*args, **kwargs)
    return caught.value.diagnostics


class Tied(nn.Module):
    """A plain model with tied ends, two blocks and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(6, 4)
        self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.head = nn.Linear(4, 6, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, ids):
        hidden = self.embed(ids) * self.scale
        for block in self.blocks:
            hidden = block(hidden).relu()
        return self.head(hidden)


def test_a_blueprint_becomes_the_pretrained_model(build, causal_lm, llama):
    built = build(causal_lm.blueprint(name_or_path=str(llama)))
    plain = AutoModelForCausalLM.from_pretrained(llama, dtype=torch.float32)
    expected = dict(plain.named_parameters())
    assert {n: p.requires_grad for n, p in built.model.named_parameters()} == dict.fromkeys(expected, True)
    assert [n for n, p in built.model.named_parameters() if not torch.equal(p, expected[n])] == []
    assert built.model.lm_head.weight is built.model.model.embed_tokens.weight
    assert built.base_name_or_path == str(llama)


def test_only_active_stages_run_and_each_is_timed_and_announced(build, causal_lm, llama):
    class Watcher:
        def __init__(self):
            self.seen = []

        @am.hookimpl
        def stage_finished(self, stage, seconds):
            self.seen.append((stage.stage.value, seconds >= 0))

    watcher = Watcher()
    built = build(causal_lm.blueprint(name_or_path=str(llama)), watcher, peft={"rank": 2})
    assert watcher.seen == [("peft", True), ("load", True), ("freeze", True), ("device", True)]
    assert list(built.seconds) == ["peft", "load", "freeze", "device"]
    assert [planned.stage.value for planned in built.plan if planned.active] == list(built.seconds)


def test_the_seed_decides_the_weights_of_a_model_from_scratch(build, causal_lm, llama):
    def weights(seed):
        built = build(causal_lm.blueprint("from_config", name_or_path=str(llama)), seed=seed)
        return torch.cat([p.flatten() for p in built.model.parameters()])

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))
    assert torch.equal(
        weights(1), torch.cat([p.flatten() for p in causal_lm.from_config(str(llama), seed=1).parameters()])
    )


def test_a_run_continues_from_the_weights_of_a_checkpoint(build, causal_lm, llama, tmp_path):
    content = {key: value + 1 for key, value in load_file(llama / "model.safetensors").items()}
    save_file(content, tmp_path / "model.safetensors")
    built = build(causal_lm.blueprint(name_or_path=str(llama)), restore=tmp_path)
    assert torch.equal(built.model.model.norm.weight, content["model.norm.weight"])


def test_a_plain_module_keeps_its_weights(build):
    model = Tied()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    built = build(model)
    assert built.model is model
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert next(p.because for p in built.plan if p.stage.value == "load") == "the module keeps the weights it has"


def test_a_plain_module_continues_by_its_own_names(build, tmp_path):
    saved = Tied()
    save_file(
        {k: v.contiguous() for k, v in saved.state_dict().items() if k != "head.weight"}, tmp_path / "model.safetensors"
    )
    built = build(Tied(), restore=tmp_path)
    assert torch.equal(built.model(IDS % 6), saved(IDS % 6))
    assert built.model.head.weight is built.model.embed.weight


def test_a_plain_blueprint_is_drawn_by_reset_parameters_and_keeps_its_ties(build):
    with torch.device("meta"):
        module = nn.ModuleDict({"embed": nn.Embedding(60, 4), "block": nn.Linear(4, 4), "head": nn.Linear(4, 60)})
        module["head"].weight = module["embed"].weight
    built = build(Blueprint(module, PlainAdapter.of(module), None), seed=3)
    assert built.model["head"].weight is built.model["embed"].weight
    assert built.model["embed"].weight.std().item() == pytest.approx(1.0, abs=0.2)
    assert 0.25 < built.model["block"].weight.abs().max().item() <= 0.5


def test_a_weight_that_nobody_initialises_is_named(build):
    with torch.device("meta"):
        module = nn.Linear(2, 2)
        module.gain = nn.Parameter(torch.empty(2))
    (problem,) = problems(build, Blueprint(module, PlainAdapter.of(module), None))
    assert problem.code == "AM415"
    assert "`gain`" in problem.message


def test_a_plugin_that_compiles_may_name_its_own_backend(build, causal_lm, llama):
    class Compiles:
        @am.hookimpl
        def apply_compile(self, model):
            return model

    build(causal_lm.blueprint(name_or_path=str(llama)), Compiles(), compile={"enabled": True, "backend": "mine"})


def test_a_module_on_meta_without_a_blueprint_is_refused(build):
    with torch.device("meta"):
        module = nn.Linear(2, 2)
    with pytest.raises(PluginError, match="return a `Blueprint`"):
        build(module)


def test_a_users_stage_replaces_the_cores(build, causal_lm, llama):
    class FreezeEverythingButNorms:
        @am.hookimpl
        def apply_freeze(self, model):
            for name, parameter in model.named_parameters():
                parameter.requires_grad_("norm" in name)
            return model

    built = build(causal_lm.blueprint(name_or_path=str(llama)), FreezeEverythingButNorms())
    assert {n for n, p in built.model.named_parameters() if p.requires_grad} == {
        n for n, _ in built.model.named_parameters() if "norm" in n
    }
    freeze = next(p for p in built.plan if p.stage.value == "freeze")
    assert "FreezeEverythingButNorms" in freeze.because


def test_a_finaliser_runs_once_parameters_are_real(build, causal_lm, llama):
    class Finalises:
        @am.hookimpl
        def apply_shard(self, model, build):
            def finalise(real):
                real.was_real = not any(p.is_meta for p in real.parameters())
                return real

            build.finalisers.append(finalise)
            return model

    assert build(causal_lm.blueprint(name_or_path=str(llama)), Finalises()).model.was_real


class Renames:
    @am.hookimpl
    def apply_qat(self, model):
        model.model.final = model.model.norm
        del model.model.norm
        return model


class Thaws:
    @am.hookimpl
    def apply_compile(self, model):
        model.lm_head.weight.requires_grad_(False)
        return model


class Unties:
    @am.hookimpl
    def apply_shard(self, model):
        model.lm_head.weight = nn.Parameter(model.lm_head.weight.detach().clone())
        return model


class StaysOnMeta:
    @am.hookimpl
    def apply_device(self, model):
        return model


class BindsNothing:
    @am.hookimpl
    def apply_load(self, model):
        return model


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        (Renames, "the qat stage lost or renamed the parameter `model.norm.weight`"),
        (Thaws, "the compile stage changed whether `lm_head.weight` trains"),
        (Unties, "after the shard stage `lm_head.weight` is no longer tied"),
        (StaysOnMeta, "after the device stage `.*` is still on the meta device"),
        (BindsNothing, "the load stage bound no source to"),
    ],
)
def test_a_stage_that_breaks_a_promise_is_named(build, causal_lm, llama, plugin, words):
    with pytest.raises(PluginError, match=words):
        build(causal_lm.blueprint(name_or_path=str(llama)), plugin())


def test_what_is_not_there_is_refused_by_name_all_at_once(build, causal_lm, llama):
    found = problems(
        build,
        causal_lm.blueprint(name_or_path=str(llama)),
        fp8={"enabled": True},
        qat={"enabled": True},
        distributed={"tp_size": 2, "pp_size": 2, "cp_size": 4},
    )
    assert [problem.code for problem in found] == ["AM440", "AM441", "AM442", "AM442", "AM443"]
    assert all(problem.span is not None for problem in found)
    assert "`distributed.tp_size` is 2" in found[2].message


def test_several_processes_are_refused(build, causal_lm, llama):
    (problem,) = problems(build, causal_lm.blueprint(name_or_path=str(llama)), world_size=2)
    assert problem.code == "AM442"


def test_a_plugin_that_implements_a_stage_is_asked_for_it(build, causal_lm, llama):
    class Fp8:
        asked = False

        @am.hookimpl
        def apply_fp8(self, model):
            Fp8.asked = True
            return model

    build(causal_lm.blueprint(name_or_path=str(llama)), Fp8(), fp8={"enabled": True})
    assert Fp8.asked


def test_one_process_of_fsdp2_has_nothing_to_shard(build, causal_lm, llama):
    built = build(causal_lm.blueprint(name_or_path=str(llama)), distributed={"strategy": "fsdp2", "dp_size": "auto"})
    shard = next(planned for planned in built.plan if planned.stage.value == "shard")
    assert (shard.active, shard.because) == (False, "world size 1: nothing to shard")


def test_compiled_blocks_keep_their_names_and_values(build, causal_lm, llama):
    plain = build(causal_lm.blueprint(name_or_path=str(llama))).model
    compiled = build(causal_lm.blueprint(name_or_path=str(llama)), compile={"enabled": True, "backend": "eager"}).model
    assert list(dict(compiled.named_parameters())) == list(dict(plain.named_parameters()))
    assert all(layer._compiled_call_impl is not None for layer in compiled.model.layers)
    with torch.no_grad():
        assert torch.equal(compiled(IDS).logits, plain(IDS).logits)


def test_a_model_without_blocks_is_compiled_whole(build):
    built = build(nn.Linear(2, 2), compile={"enabled": True, "backend": "eager"})
    assert built.model._compiled_call_impl is not None


def test_an_unknown_backend_is_refused_before_anything_starts(build, causal_lm, llama):
    (problem,) = problems(
        build, causal_lm.blueprint(name_or_path=str(llama)), compile={"enabled": True, "backend": "inducter"}
    )
    assert problem.code == "AM450"
    assert "`inductor`" in problem.helps[0]
    assert problem.span is not None
