"""A usable model from a blueprint, without a run: load and device, and nothing else."""

from __future__ import annotations

import torch
from torch import nn

from automodel_core.infrastructure.binding import bind_weights
from automodel_core.infrastructure.blueprint import Blueprint
from automodel_core.infrastructure.build import ModelBuild
from automodel_core.infrastructure.facts import InfrastructureFacts
from automodel_core.infrastructure.placing import place_on_device


def realise(blueprint: Blueprint, device: torch.device, seed: int) -> nn.Module:
    """Return ``blueprint``'s module on ``device``, read from its directory or drawn from ``seed``."""
    build = ModelBuild(
        model=blueprint.module,
        adapter=blueprint.adapter,
        device=device,
        seed=seed,
        facts=InfrastructureFacts(),
        plan=(),
        base_directory=blueprint.weights_directory,
        restore_directory=None,
        base_name_or_path=blueprint.name_or_path,
        is_blueprint=True,
        ties=dict(blueprint.adapter.tied_names(blueprint.module)),
    )
    build.bound.update(bind_weights(build.model, build))
    return place_on_device(build.model, build)
