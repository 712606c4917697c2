"""Pipeline parallelism: stages of layers, and the time that each waits for the others."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.layout.partition import bubble_fraction
from automodel_core.layout.request import LayoutRequest
from automodel_core.layout.rules.finding import Finding

_MUCH_WAITING = 1 / 5


def stages_have_layers(request: LayoutRequest) -> Iterator[Finding]:
    """No stage is empty."""
    layers, stages = request.model.layers, request.pp * request.virtual_stages
    if layers is None or stages <= layers:
        return
    shown = f"pp {request.pp}" + (f" x {request.virtual_stages} virtual" if request.virtual_stages > 1 else "")
    message = f"{shown} makes {stages} stages of a model with {layers} layers"
    helps = (f"pp can be up to {layers // request.virtual_stages or 1}",)
    yield Finding("stages_have_layers", "error", message, "a stage holds at least one layer", ("pp",), helps)


def few_pipeline_stages(request: LayoutRequest) -> Iterator[Finding]:
    """Every stage adds waiting at both ends of a step, so there are as few as hold the model.

    More micro-batches or several virtual stages on a rank shorten it.
    """
    micro_batches = request.micro_batches
    if request.pp == 1 or micro_batches is None:
        return
    share = bubble_fraction(request.pp, micro_batches, request.virtual_stages)
    if share <= _MUCH_WAITING:
        return
    message = (
        f"pp {request.pp} with {micro_batches} micro-batches a step leaves each rank waiting {share:.0%} of the time"
    )
    reason = "a pipeline fills and drains once a step"
    enough = _micro_batches_for(request.pp, request.virtual_stages)
    helps = (f"{enough} micro-batches wait {_MUCH_WAITING:.0%}", "or lower pp, or give each rank virtual stages")
    yield Finding("few_pipeline_stages", "warning", message, reason, ("pp",), helps)


def _micro_batches_for(pp: int, virtual: int) -> int:
    waiting = 4 * (pp - 1)  # (pp - 1) / (virtual * count + pp - 1) <= 1 / 5
    return max(1, -(-waiting // virtual))
