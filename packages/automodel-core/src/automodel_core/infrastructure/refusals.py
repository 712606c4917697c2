"""What is asked for and not there: said by name before anything starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.infrastructure.facts import InfrastructureFacts
from automodel_core.infrastructure.stages import Stage

if TYPE_CHECKING:
    from automodel_core.config import RunConfig


def refuse_unavailable(config: RunConfig, facts: InfrastructureFacts) -> None:
    """Raise :class:`InputError` with every stage asked for that the core cannot do and nobody else implements."""
    problems = [
        problem for stage in Stage if stage.value not in facts.claimed for problem in refusals(stage, config, facts)
    ]
    if problems:
        raise InputError(problems)


def refusals(stage: Stage, config: RunConfig, facts: InfrastructureFacts) -> Iterator[Diagnostic]:
    """Yield what the core has to refuse of one stage."""
    if stage is Stage.FP8 and facts.fp8:
        yield Diagnostic(
            "AM440",
            "`fp8.enabled` is true, but FP8 training is not there yet",
            config.span("fp8.enabled"),
            helps=("set `fp8.enabled` to false, or implement `apply_fp8` in a plugin",),
        )
    elif stage is Stage.QAT and facts.qat:
        yield Diagnostic(
            "AM441",
            "`qat.enabled` is true, but quantization-aware training is not there yet",
            config.span("qat.enabled"),
            helps=("set `qat.enabled` to false, or implement `apply_qat` in a plugin",),
        )
    elif stage is Stage.SHARD:
        yield from _shard(config, facts)
    elif stage is Stage.CONTEXT_PARALLEL and facts.sizes.context > 1:
        yield Diagnostic(
            "AM443",
            f"`distributed.cp_size` is {facts.sizes.context}, but context parallelism is not there yet",
            config.span("distributed.cp_size"),
            helps=("set `distributed.cp_size` to 1",),
        )


def _shard(config: RunConfig, facts: InfrastructureFacts) -> Iterator[Diagnostic]:
    wanted = [(key, size) for key, size in facts.sizes.model_axes if key != "cp_size" and size > 1]
    if facts.sizes.replicate > 1:
        wanted.append(("dp_replicate_size", facts.sizes.replicate))
    if facts.sizes.data is not None and facts.sizes.data > 1:
        wanted.append(("dp_size", facts.sizes.data))
    for key, size in wanted:
        yield Diagnostic(
            "AM442",
            f"`distributed.{key}` is {size}, but splitting a model over processes is not there yet",
            config.span(f"distributed.{key}"),
            helps=(f"set `distributed.{key}` to 1",),
        )
    if facts.world_size > 1 and not wanted:
        yield Diagnostic(
            "AM442",
            f"the run has {facts.world_size} processes, but `{facts.strategy}` over several is not there yet",
            config.span("distributed.strategy"),
            helps=("start one process",),
        )
