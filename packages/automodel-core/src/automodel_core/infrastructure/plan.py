"""Deciding what each stage of the pipeline has to do: a pure function, without torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import attrs

from automodel_core.infrastructure.facts import InfrastructureFacts, Sizes, facts_from
from automodel_core.infrastructure.stages import STAGES, Stage

__all__ = ["InfrastructureFacts", "PlannedStage", "Sizes", "facts_from", "plan_infrastructure"]


@attrs.frozen
class PlannedStage:
    """One stage of the plan: whether it has something to do, and the reason in plain words."""

    stage: Stage
    because: str
    active: bool


def plan_infrastructure(facts: InfrastructureFacts) -> tuple[PlannedStage, ...]:
    """Return the nine stages in their order, each exactly once, with the reason why it runs or has nothing to do."""
    return tuple(_planned(stage, facts) for stage in STAGES)


def _planned(stage: Stage, facts: InfrastructureFacts) -> PlannedStage:
    active, because = _DECISIONS[stage](facts)
    owner = facts.claimed.get(stage.value)
    if owner is not None:
        because = f"{because}; `{owner}` implements `{stage.hook}`"
    return PlannedStage(stage, because, active or owner is not None)


_Decision: TypeAlias = tuple[bool, str]


def _peft(facts: InfrastructureFacts) -> _Decision:
    if facts.peft_kind is None:
        return False, "no `peft` section: every weight is the model's own"
    return True, f"`peft.kind` is {facts.peft_kind}, rank {facts.peft_rank}"


def _fp8(facts: InfrastructureFacts) -> _Decision:
    return facts.fp8, "`fp8.enabled` is true" if facts.fp8 else "`fp8` is not enabled"


def _qat(facts: InfrastructureFacts) -> _Decision:
    return facts.qat, "`qat.enabled` is true" if facts.qat else "`qat` is not enabled"


def _load(facts: InfrastructureFacts) -> _Decision:
    if facts.restore:
        return True, f"weights of the checkpoint {facts.restore}"
    if facts.origin == "directory":
        return True, f"weights of {facts.weights}"
    if facts.origin == "seed":
        return True, "no pretrained weights: drawn from the seed as the model's own code says"
    return facts.peft_kind is not None, "the module keeps the weights it has"


def _freeze(facts: InfrastructureFacts) -> _Decision:
    if facts.peft_kind is not None:
        return True, "`peft` is on: only the adapters train"
    if facts.frozen_patterns:
        return True, f"`freeze.patterns` has {_count(len(facts.frozen_patterns), 'pattern')}"
    if facts.frozen_parts:
        return True, "`freeze` names " + ", ".join(f"`{part}`" for part in facts.frozen_parts)
    if facts.trainable_patterns:
        return True, "`freeze.trainable` is given"
    return False, "no `freeze` patterns: every parameter trains"


def _shard(facts: InfrastructureFacts) -> _Decision:
    split = [f"`{key}` is {size}" for key, size in facts.sizes.model_axes if size > 1 and key != "cp_size"]
    if facts.sizes.replicate > 1:
        split.append(f"`dp_replicate_size` is {facts.sizes.replicate}")
    if facts.sizes.data is not None and facts.sizes.data > 1:
        split.append(f"`dp_size` is {facts.sizes.data}")
    if facts.world_size > 1:
        return True, ", ".join([f"`{facts.strategy}` over {facts.world_size} processes", *split])
    if split:
        return True, ", ".join(["world size 1", *split])
    return False, "world size 1: nothing to shard"


def _device(facts: InfrastructureFacts) -> _Decision:
    if facts.origin == "module":
        return True, f"the module moves to {facts.device}"
    return True, f"parameters are allocated on {facts.device} and read from their sources"


def _compile(facts: InfrastructureFacts) -> _Decision:
    if facts.compile_backend is None:
        return False, "`compile` is not enabled"
    return True, f"`compile` is enabled: each block in place, backend {facts.compile_backend}"


def _context_parallel(facts: InfrastructureFacts) -> _Decision:
    if facts.sizes.context > 1:
        return True, f"`cp_size` is {facts.sizes.context}"
    return False, "`cp_size` is 1: each rank sees whole sequences"


_DECISIONS: Final[Mapping[Stage, Callable[[InfrastructureFacts], _Decision]]] = {
    Stage.PEFT: _peft,
    Stage.FP8: _fp8,
    Stage.QAT: _qat,
    Stage.LOAD: _load,
    Stage.FREEZE: _freeze,
    Stage.SHARD: _shard,
    Stage.DEVICE: _device,
    Stage.COMPILE: _compile,
    Stage.CONTEXT_PARALLEL: _context_parallel,
}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
