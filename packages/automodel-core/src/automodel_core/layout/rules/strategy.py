"""What each strategy cannot do."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.layout.request import LayoutRequest
from automodel_core.layout.rules.finding import Finding

_REFUSED = {
    "ddp": {
        "tp": "each rank holds the whole model",
        "pp": "each rank holds the whole model",
        "cp": "each rank reads whole sequences",
        "ep": "each rank holds every expert",
        "dp_replicate": "all of its ranks are replicas already",
    },
    "megatron_fsdp": {
        "pp": "it does not split a model into stages",
        "ep": "it does not know experts",
        "sequence_parallel": "its tensor-parallel plan keeps whole activations",
    },
    "fsdp2": {},
}


def strategy_limits(request: LayoutRequest) -> Iterator[Finding]:
    """``ddp`` is data parallel only; ``megatron_fsdp`` has no pipeline, experts or sequence parallelism."""
    for size, reason in _REFUSED[request.strategy].items():
        value = getattr(request, size)
        if not (value is True or (type(value) is int and value > 1)):
            continue
        wanted = "false" if size == "sequence_parallel" else "1"
        shown = "on" if value is True else str(value)
        message = f"`{request.strategy}` cannot be used with {size} {shown}"
        helps = (f"write `strategy: fsdp2`, or set it to {wanted}",)
        yield Finding("strategy_limits", "error", message, reason, (size,), helps)
