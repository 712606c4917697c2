"""The core's own builders: what a run gets when nobody answers before."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import default_collate

from automodel_core.checkpoint.config import CheckpointConfig
from automodel_core.config import RunConfig
from automodel_core.config.batch import accumulation_steps
from automodel_core.config.components import build_component, resolve_target
from automodel_core.diagnostics import Diagnostic
from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.hookspecs import hookimpl
from automodel_core.infrastructure.blueprint import Blueprint
from automodel_core.specs import NOTHING
from automodel_core.training.component_check import complete_component
from automodel_core.training.model_component import build_model_component
from automodel_core.training.rehearsal import rehearse_optimizer, rehearse_schedule, schedule_arguments
from automodel_core.training.run_state import ModelState, Stateful
from automodel_core.training.sizes import parse_size
from automodel_core.training.step_scheduler import StepLimits, StepScheduler


@hookimpl
def build_processor() -> Any:
    return NOTHING


@hookimpl
def build_model(config: RunConfig) -> Blueprint | nn.Module:
    return build_model_component(config.model, config.vocabulary)


@hookimpl
def build_dataset(config: RunConfig, split: str, processor: Any) -> Any:
    component = complete_component(config, "dataset" if split == "train" else "validation_dataset")
    if component is None:
        return NOTHING
    offered: dict[str, Any] = {"processor": processor}
    if config.validation_dataset is None:
        offered["validation_fraction"] = 0.0  # rows that nothing is measured on would be lost to training
    taken = inspect.signature(resolve_target(component, config.vocabulary)).parameters
    arguments = {key: value for key, value in offered.items() if key in taken and key not in component.kwargs}
    with placed_at(component.key_spans.get("path", component.span), component.key_spans):
        return build_component(component, config.vocabulary, **arguments)


@hookimpl
def build_collate() -> Any:
    return default_collate


@hookimpl
def measure() -> Mapping[str, float]:
    return {}


@hookimpl
def stateful_parts() -> Mapping[str, Stateful]:
    return {}


@hookimpl
def exported_weights(run: ModelState) -> Mapping[str, torch.Tensor]:
    return dict(run.model.state_dict(keep_vars=True))


@hookimpl
def build_optimizer(config: RunConfig, model: nn.Module) -> torch.optim.Optimizer:
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise InputError(Diagnostic("AM431", "no parameter of the model is trainable", config.span("freeze")))
    if config.optimizer is None:
        return torch.optim.AdamW(parameters)
    rehearse_optimizer(config.optimizer, config)
    optimizer: torch.optim.Optimizer = build_component(config.optimizer, config.vocabulary, params=parameters)
    return optimizer


@hookimpl
def build_lr_scheduler(config: RunConfig, optimizer: torch.optim.Optimizer, total_steps: int) -> Any:
    if config.lr_scheduler is None:
        return NOTHING
    rehearse_schedule(config.lr_scheduler, config, total_steps)
    arguments = schedule_arguments(config.lr_scheduler, config, total_steps)
    return build_component(config.lr_scheduler, config.vocabulary, optimizer=optimizer, **arguments)


@hookimpl
def build_step_scheduler(config: RunConfig, micro_batches_per_epoch: int) -> StepScheduler:
    section = config.step_scheduler
    limits = StepLimits(
        max_steps=section.max_steps,
        num_epochs=section.num_epochs,
        grad_accumulation_steps=accumulation_steps(config, 1),
        val_check_interval=section.val_check_interval,
        checkpoint_interval=section.checkpoint_interval,
        log_interval=section.log_interval,
    )
    return StepScheduler(limits, micro_batches_per_epoch)


@hookimpl
def build_checkpoint_config(config: RunConfig) -> CheckpointConfig:
    section = config.checkpoint
    return CheckpointConfig(
        directory=Path(section.directory),
        enabled=section.enabled,
        keep_last=section.keep_last,
        max_shard_bytes=parse_size(section.max_shard_size),
        save_optimizer=section.save_optimizer,
        overwrite=section.overwrite,
    )


@hookimpl
def export_model() -> bool:
    return True
