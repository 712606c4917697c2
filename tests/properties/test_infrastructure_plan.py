"""No input reorders, repeats or skips a stage, and what a plan says agrees with what the facts ask for."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from automodel_core.infrastructure.facts import InfrastructureFacts, Sizes
from automodel_core.infrastructure.plan import plan_infrastructure

ORDER = ["peft", "fp8", "qat", "load", "freeze", "shard", "device", "compile", "context_parallel"]

size = st.sampled_from([1, 2, 4])
patterns = st.lists(st.text(min_size=1, max_size=4), max_size=2).map(tuple)
facts = st.builds(
    InfrastructureFacts,
    origin=st.sampled_from(["directory", "seed", "module"]),
    weights=st.sampled_from(["", "models/llama"]),
    restore=st.sampled_from(["", "checkpoints/step-5"]),
    peft_kind=st.sampled_from([None, "lora"]),
    peft_rank=st.integers(0, 64),
    fp8=st.booleans(),
    qat=st.booleans(),
    frozen_patterns=patterns,
    trainable_patterns=patterns,
    strategy=st.sampled_from(["fsdp2", "megatron_fsdp", "ddp"]),
    sizes=st.builds(Sizes, size, size, size, size, size, st.sampled_from([None, 1, 2])),
    world_size=st.integers(1, 8),
    device=st.sampled_from(["cpu", "cuda:0"]),
    compile_backend=st.sampled_from([None, "inductor"]),
    claimed=st.dictionaries(st.sampled_from(ORDER), st.just("MyHooks")),
)


@given(facts)
def test_every_plan_has_the_nine_stages_once_and_in_their_order(given_facts):
    assert [planned.stage.value for planned in plan_infrastructure(given_facts)] == ORDER


@given(facts)
def test_every_stage_has_a_reason(given_facts):
    assert all(planned.because.strip() for planned in plan_infrastructure(given_facts))


@given(facts)
def test_planning_twice_gives_the_same_plan(given_facts):
    assert plan_infrastructure(given_facts) == plan_infrastructure(given_facts)


@given(facts)
def test_a_stage_that_is_asked_for_is_never_left_out(given_facts):
    active = {planned.stage.value for planned in plan_infrastructure(given_facts) if planned.active}
    asked = {"device"}
    asked |= {"peft", "load", "freeze"} if given_facts.peft_kind else set()
    asked |= {"fp8"} if given_facts.fp8 else set()
    asked |= {"qat"} if given_facts.qat else set()
    asked |= {"load"} if given_facts.restore or given_facts.origin != "module" else set()
    asked |= {"freeze"} if given_facts.frozen_patterns or given_facts.trainable_patterns else set()
    sizes = given_facts.sizes
    splits = (sizes.tensor, sizes.pipeline, sizes.expert, sizes.replicate, sizes.data or 1, given_facts.world_size)
    asked |= {"shard"} if max(splits) > 1 else set()
    asked |= {"compile"} if given_facts.compile_backend else set()
    asked |= {"context_parallel"} if sizes.context > 1 else set()
    assert active == asked | set(given_facts.claimed)


def test_one_process_has_nothing_to_shard():
    shard = plan_infrastructure(InfrastructureFacts(strategy="fsdp2", world_size=1))[5]
    assert (shard.active, shard.because) == (False, "world size 1: nothing to shard")


def test_a_plugin_that_implements_a_stage_is_named_and_asked():
    freeze = plan_infrastructure(InfrastructureFacts(claimed={"freeze": "MyHooks"}))[4]
    assert freeze.active
    assert "`MyHooks` implements `apply_freeze`" in freeze.because


def test_planning_does_not_import_torch():
    code = "import sys, automodel_core.infrastructure.plan; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
