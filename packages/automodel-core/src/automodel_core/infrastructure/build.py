"""What the stages of one model hand to each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import torch
from torch import nn

from automodel_core.infrastructure.blueprint import ModelAdapter
from automodel_core.infrastructure.facts import InfrastructureFacts
from automodel_core.infrastructure.peft.layers import PeftLayers
from automodel_core.infrastructure.plan import PlannedStage
from automodel_core.infrastructure.weights import WeightSource


@attrs.define(eq=False)
class ModelBuild:
    """The state of a pipeline run. Stage hooks read it and fill in what later stages need."""

    model: nn.Module
    """What the last stage returned; at the end, the model that trains."""
    adapter: ModelAdapter
    device: torch.device
    seed: int
    facts: InfrastructureFacts
    plan: tuple[PlannedStage, ...]
    base_directory: Path | None
    """Where pretrained weights are read from; ``None`` when they are drawn from the seed or already there."""
    restore_directory: Path | None
    """The checkpoint that this run continues from, or ``None``."""
    base_name_or_path: str | None
    """How the user names the pretrained model."""
    is_blueprint: bool
    """Whether the model came on the meta device, to be filled by the device stage."""
    ties: Mapping[str, str] = attrs.field(factory=dict)
    """Tied names and the name that owns their storage."""
    peft: PeftLayers | None = None
    """The adapters that the peft stage added."""
    bound: dict[str, WeightSource] = attrs.field(factory=dict)
    """A source for every parameter and persistent buffer, filled by load and used up by device."""
    finalisers: list[Callable[[nn.Module], nn.Module]] = attrs.field(factory=list)
    """What device runs, in order, once parameters are real: strategies that cannot wrap meta parameters wait here."""
    seconds: dict[str, float] = attrs.field(factory=dict)
    """How long each stage that ran took."""
