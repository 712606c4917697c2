"""The adapter of diffusers' models: one component of a pipeline directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import torch
from torch import nn

from automodel_core.infrastructure.plain_adapter import PlainAdapter
from automodel_core.infrastructure.weights import WeightsPlace

STEM: Final = "diffusion_pytorch_model"


@attrs.frozen(eq=False)
class DiffusersAdapter(PlainAdapter):
    """``component`` is the directory of the model within its pipeline's, such as ``transformer``."""

    component: str = ""

    def places(self, model: nn.Module) -> Sequence[WeightsPlace]:
        """Return the component's directory."""
        return (WeightsPlace(self.component, STEM),)

    def rebuild_buffers(self, model: nn.Module, device: torch.device) -> None:
        """Compute what no file holds (position tables), with the code that computes it: another model, on the CPU."""
        saved = set(model.state_dict(keep_vars=True))
        unsaved = {name: buffer for name, buffer in model.named_buffers() if name not in saved}
        if not unsaved:
            return
        with torch.random.fork_rng(devices=[]):
            fresh = dict(type(model).from_config(model.config).named_buffers())  # type: ignore[attr-defined]
        for name, buffer in unsaved.items():
            buffer.copy_(fresh[name])

    def save_config(self, model: nn.Module, directory: Path) -> None:
        """Write the component's ``config.json``."""
        configured: Any = model
        configured.save_config(directory / self.component)
