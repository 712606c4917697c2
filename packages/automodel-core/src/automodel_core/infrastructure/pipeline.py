"""From a model's description to a model that trains: one short loop over the planned stages."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch
from torch import nn

from automodel_core.diagnostics.collecting import Problems
from automodel_core.errors import PluginError
from automodel_core.infrastructure.blueprint import Blueprint, ModelAdapter
from automodel_core.infrastructure.build import ModelBuild
from automodel_core.infrastructure.compilation import check_backend
from automodel_core.infrastructure.facts import facts_from
from automodel_core.infrastructure.invariants import ModelNames, check_invariants
from automodel_core.infrastructure.plain_adapter import PlainAdapter
from automodel_core.infrastructure.plan import PlannedStage, plan_infrastructure
from automodel_core.infrastructure.refusals import refuse_unavailable
from automodel_core.infrastructure.stages import STAGES, Stage

if TYPE_CHECKING:
    from automodel_core.config import RunConfig
    from automodel_core.plugins import RunHost


def build_infrastructure(
    host: RunHost,
    config: RunConfig,
    blueprint_or_module: Blueprint | nn.Module,
    device: torch.device,
    seed: int,
    restore_directory: Path | None = None,
    world_size: int = 1,
) -> ModelBuild:
    """Run the stages in their order and return what they built; ``.model`` is ready to train.

    A :class:`Blueprint` is read from its directory, or drawn from ``seed``; a module keeps the weights it has.
    ``restore_directory`` is a checkpoint to continue from: a whole model, or adapters when ``peft`` is on. What is
    asked for and cannot be done is refused before weights are read, all of it at once.
    """
    build = describe_infrastructure(host, config, blueprint_or_module, device, seed, restore_directory, world_size)
    return realise_infrastructure(host, config, build)


def describe_infrastructure(
    host: RunHost,
    config: RunConfig,
    blueprint_or_module: Blueprint | nn.Module,
    device: torch.device,
    seed: int,
    restore_directory: Path | None = None,
    world_size: int = 1,
) -> ModelBuild:
    """Run the stages that read no weights. Raises :class:`InputError` with what is wrong with any of them.

    A stage that follows from one that failed is left out: without its adapters a model says nothing of patterns that
    name them.
    """
    build = _start(host, config, blueprint_or_module, device, seed, restore_directory, world_size)
    problems = Problems()
    with problems.collected():
        refuse_unavailable(config, build.facts)
    if config.compile.enabled and Stage.COMPILE.value not in build.facts.claimed:
        with problems.collected():
            check_backend(config)
    failed: set[Stage] = set()
    names = ModelNames.of(build.model)
    for planned in _before_weights(build):
        if failed.intersection(_FOLLOWS.get(planned.stage, ())):
            continue
        failed.add(planned.stage)
        with problems.collected():
            _run(host, config, planned, build)
            names = check_invariants(planned.stage, build.model, names, build.ties)
            failed.discard(planned.stage)
    problems.report()
    return build


def realise_infrastructure(host: RunHost, config: RunConfig, build: ModelBuild) -> ModelBuild:
    """Run the other stages of ``build``: its parameters get their memory and their values."""
    done = [planned.stage for planned in _before_weights(build)]
    names = ModelNames.of(build.model)
    for planned in build.plan:
        if planned.active and planned.stage not in done:
            _run(host, config, planned, build)
            names = check_invariants(planned.stage, build.model, names, build.ties)
    return build


_FOLLOWS: Final = {Stage.LOAD: (Stage.PEFT,), Stage.FREEZE: (Stage.PEFT,)}
"""Stages that cannot be judged when another has failed."""


def _before_weights(build: ModelBuild) -> list[PlannedStage]:
    """Return the stages with something to do that come before the one that reads weights."""
    return [p for p in itertools.takewhile(lambda p: p.stage is not Stage.DEVICE, build.plan) if p.active]


def _run(host: RunHost, config: RunConfig, planned: PlannedStage, build: ModelBuild) -> None:
    started = time.perf_counter()
    build.model = host.build(planned.stage.hook, config=config, model=build.model, build=build)
    seconds = time.perf_counter() - started
    build.seconds[planned.stage.value] = seconds
    host.notify("stage_finished", stage=planned, seconds=seconds)


def _start(
    host: RunHost,
    config: RunConfig,
    given: Blueprint | nn.Module,
    device: torch.device,
    seed: int,
    restore_directory: Path | None,
    world_size: int,
) -> ModelBuild:
    if isinstance(given, Blueprint):
        model, adapter, base = given.module, given.adapter, given.weights_directory
    else:
        model, base = given, None
        adapter = _adapter_of(host, config, model)
    is_blueprint = isinstance(given, Blueprint)
    facts = facts_from(
        config,
        origin="module" if not is_blueprint else "seed" if base is None else "directory",
        world_size=world_size,
        device=str(device),
        weights="" if base is None else str(base),
        restore="" if restore_directory is None else str(restore_directory),
        claimed=_claimed(host),
    )
    return ModelBuild(
        model=model,
        adapter=adapter,
        device=device,
        seed=seed,
        facts=facts,
        plan=plan_infrastructure(facts),
        base_directory=base,
        restore_directory=restore_directory,
        base_name_or_path=given.name_or_path if isinstance(given, Blueprint) else None,
        is_blueprint=is_blueprint,
        ties=dict(adapter.tied_names(model)),
    )


def _adapter_of(host: RunHost, config: RunConfig, model: nn.Module) -> ModelAdapter:
    if any(weight.is_meta for weight in (*model.parameters(), *model.buffers())):
        raise PluginError(
            f"`build_model` returned a `{type(model).__name__}` on the meta device; return a `Blueprint`, "
            "which says where its weights come from"
        )
    adapter = host.maybe("state_dict_adapter", config=config, model=model)
    return PlainAdapter.of(model) if adapter is None else adapter


def _claimed(host: RunHost) -> dict[str, str]:
    """Return the stages that somebody other than the core implements. The lowest layer is the core's."""
    claimed = {}
    for stage in STAGES:
        others = [entry.plugin for entry in host.call_order(stage.hook) if int(entry.layer) > 0]
        if others:
            claimed[stage.value] = others[0]
    return claimed
