"""Stages: one hook for each stage of the infrastructure pipeline, in the only order there is.

Each is called when the plan says that there is something to do, and returns the model to go on with (the same object,
or what replaces it). ``None`` means "not mine". ``build`` carries what the stages hand to each other: the adapter, the
bound weights, the device, and the finalisers that the device stage runs once parameters are real.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from automodel_core.hookspecs.markers import hookspec

if TYPE_CHECKING:
    from torch import nn

    from automodel_core.config import RunConfig
    from automodel_core.infrastructure.build import ModelBuild


@hookspec(firstresult=True)
def apply_peft(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Add adapters to the model on the meta device; the names of the base parameters stay as they are."""


@hookspec(firstresult=True)
def apply_fp8(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Swap linear layers for FP8 ones."""


@hookspec(firstresult=True)
def apply_qat(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Swap layers for fake-quantised ones (quantization-aware training)."""


@hookspec(firstresult=True)
def apply_load(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Bind every parameter and persistent buffer to a weight source; nothing is read yet."""


@hookspec(firstresult=True)
def apply_freeze(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Set ``requires_grad`` of every parameter."""


@hookspec(firstresult=True)
def apply_shard(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Split parameters over ranks, still on the meta device."""


@hookspec(firstresult=True)
def apply_device(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Materialise: allocate on the device and read each rank's own part of every bound weight."""


@hookspec(firstresult=True)
def apply_compile(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Compile the repeated blocks in place; names are kept."""


@hookspec(firstresult=True)
def apply_context_parallel(config: RunConfig, model: nn.Module, build: ModelBuild) -> nn.Module:
    """Attach the attention hooks of context parallelism."""
