"""The values that a run reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs


@attrs.frozen
class MetricsSample:
    """One optimizer step."""

    step: int
    """Number of the step, from 1 over the whole run."""
    epoch: int
    """Epoch of the step, from 0."""
    loss: float
    """Training loss: the sum over the group's targets divided by their number."""
    grad_norm: float
    """2-norm of the gradients after clipping; the norm before is the extra ``grad_norm_before_clip``."""
    lr: float
    """Learning rate with which the step was taken (of the first parameter group)."""
    mem: float
    """Peak memory in GiB: of the device, or the peak resident memory of the process on CPU."""
    tps: float
    """Tokens per second over the step, padding excluded."""
    mfu: float | None
    """Share of the device's peak FLOPs, or ``None`` where the peak or the model's FLOPs are unknown."""
    extras: Mapping[str, float | int] = attrs.field(factory=dict)

    def record(self) -> dict[str, Any]:
        """Return a flat JSON-able record; the extras follow the named fields."""
        named = {f.name: getattr(self, f.name) for f in attrs.fields(MetricsSample) if f.name != "extras"}
        return {"event": "step", **named, **self.extras}


@attrs.frozen
class ValidationSample:
    """One validation pass, after optimizer step ``step``."""

    step: int
    epoch: int
    loss: float
    targets: int
    seconds: float
    name: str = "validation"
    metrics: Mapping[str, float] = attrs.field(factory=dict)
    """Figures beside the loss, such as an accuracy."""

    def record(self) -> dict[str, Any]:
        """Return a flat JSON-able record; the metrics follow the named fields."""
        named = {f.name: getattr(self, f.name) for f in attrs.fields(ValidationSample) if f.name != "metrics"}
        return {"event": "validation", **named, **self.metrics}
