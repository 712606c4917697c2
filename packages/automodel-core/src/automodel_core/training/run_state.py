"""What a run consists of once it is set up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import attrs

if TYPE_CHECKING:
    import torch
    from torch import nn

    from automodel_core.checkpoint.config import CheckpointConfig
    from automodel_core.checkpoint.writer import CheckpointWriter
    from automodel_core.config import RunConfig
    from automodel_core.data.loader import BatchStream, OrderedLoader
    from automodel_core.infrastructure.build import ModelBuild
    from automodel_core.plugins import RunHost
    from automodel_core.training.step_scheduler import StepScheduler


class Stateful(Protocol):
    """A part of a run whose state is tensors by name."""

    def state_dict(self) -> Mapping[str, torch.Tensor]:
        """Return the state; the tensors may be the live ones."""

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Put ``state`` back. Raises ``ValueError`` or ``KeyError`` when it is another part's."""


@attrs.define(kw_only=True)
class ModelState:
    """A model with what it needs to be asked something: what evaluation and generation work on."""

    recipe: str
    """The dotted name of the recipe class."""
    config: RunConfig
    host: RunHost
    device: torch.device
    processor: Any
    build: ModelBuild
    loss_fn: Any

    @property
    def model(self) -> nn.Module:
        """The model itself."""
        return self.build.model


@attrs.define(kw_only=True)
class RunState(ModelState):
    """The components of one training run. Hooks may read it all; only ``setup()`` replaces components."""

    optimizer: torch.optim.Optimizer
    lr_scheduler: Any
    """The learning-rate scheduler, or ``None``."""
    stream: BatchStream
    validation: Mapping[str, OrderedLoader]
    """Validation loaders by name; empty without validation data."""
    scheduler: StepScheduler
    checkpoints: CheckpointConfig
    parts: Mapping[str, Stateful] = attrs.field(factory=dict)
    """What else is saved and restored, by name."""
    writer: CheckpointWriter
    """Writes the checkpoints, and holds the lock of their directory while they are enabled and the run goes on."""
