"""The core's own implementation of each stage: it answers when nobody else does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.hookspecs import hookimpl
from automodel_core.infrastructure import freeze
from automodel_core.infrastructure.binding import bind_weights
from automodel_core.infrastructure.compilation import compile_blocks
from automodel_core.infrastructure.facts import frozen_parts
from automodel_core.infrastructure.peft import attach_adapters
from automodel_core.infrastructure.placing import place_on_device
from automodel_core.infrastructure.refusals import refusals
from automodel_core.infrastructure.stages import Stage

if TYPE_CHECKING:
    from torch import nn

    from automodel_core.config import RunConfig
    from automodel_core.infrastructure.build import ModelBuild


@hookimpl
def apply_peft(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Turn the targeted linear layers into LoRA layers."""
    if config.given("peft"):
        build.peft = attach_adapters(model, config.peft, build.adapter, config.span)
    return model


@hookimpl
def apply_fp8(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Refuse FP8 when it is asked for."""
    return _refused_or(model, Stage.FP8, config, build)


@hookimpl
def apply_qat(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Refuse quantization-aware training when it is asked for."""
    return _refused_or(model, Stage.QAT, config, build)


@hookimpl
def apply_load(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Bind every name to its source."""
    place = config.span("restore_from.path") if build.restore_directory is not None else None
    with placed_at(place or config.span("model.name_or_path") or config.span("model")):
        build.bound.update(bind_weights(model, build))
    return model


@hookimpl
def apply_freeze(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Freeze by pattern and by part, and everything but the adapters when there are any."""
    known = build.adapter.parts(model)
    freeze.apply_freeze(
        model,
        config.freeze.patterns,
        config.freeze.trainable,
        None if build.peft is None else build.peft.parameter_names,
        config.span,
        {part: known.get(part) for part in frozen_parts(config.freeze)},
    )
    return model


@hookimpl
def apply_shard(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Refuse to split the model over processes when that is asked for."""
    return _refused_or(model, Stage.SHARD, config, build)


@hookimpl
def apply_device(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Allocate, read, rebuild, finalise."""
    return place_on_device(model, build)


@hookimpl
def apply_compile(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Compile the blocks in place."""
    if config.compile.enabled:
        compile_blocks(model, build.adapter, config)
    return model


@hookimpl
def apply_context_parallel(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Refuse context parallelism when it is asked for."""
    return _refused_or(model, Stage.CONTEXT_PARALLEL, config, build)


def _refused_or(model: nn.Module, stage: Stage, config: RunConfig, build: ModelBuild) -> nn.Module:
    problems = list(refusals(stage, config, build.facts))
    if problems:
        raise InputError(problems)
    return model
