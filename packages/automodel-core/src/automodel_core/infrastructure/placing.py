"""The device stage: parameters become real, and get their values."""

from __future__ import annotations

import torch
from torch import nn

from automodel_core.errors import PluginError
from automodel_core.infrastructure.build import ModelBuild
from automodel_core.infrastructure.weights import materialise


def place_on_device(model: nn.Module, build: ModelBuild) -> nn.Module:
    """Allocate ``model`` on the device, fill it from the bound sources, and run what waited for real parameters."""
    if build.is_blueprint:
        _check_all_bound(model, build)
        model.to_empty(device=build.device)
        build.adapter.tie(model)  # allocating gave each end of a tie its own storage
        _fill(model, build)
        build.adapter.rebuild_buffers(model, build.device)
    else:
        model.to(build.device)
        _fill(model, build)
    for finalise in build.finalisers:
        model = finalise(model)
    return model


def _fill(model: nn.Module, build: ModelBuild) -> None:
    weights = model.state_dict(keep_vars=True)
    for name, weight in weights.items():
        source = build.bound.pop(name, None)  # let go of it, and with the last one of its file
        if source is not None and isinstance(weight, torch.Tensor):
            materialise(weight, source)


def _check_all_bound(model: nn.Module, build: ModelBuild) -> None:
    """A weight that was never bound would keep whatever the memory held."""
    lost = sorted(set(model.state_dict(keep_vars=True)) - set(build.bound) - set(build.ties))
    if lost:
        raise PluginError(f"the load stage bound no source to {', '.join(f'`{name}`' for name in lost[:8])}")
