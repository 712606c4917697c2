"""Expert parallelism: whole experts are dealt to ranks."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.layout.request import LayoutRequest
from automodel_core.layout.rules.finding import Finding, divisors, either


def ep_divides_experts(request: LayoutRequest) -> Iterator[Finding]:
    """Every rank of ``ep`` holds as many experts as the others, and there are some."""
    experts = request.model.experts
    if experts is None or request.ep == 1:
        return
    reason = "each expert-parallel rank holds as many whole experts as the others"
    if experts == 0:
        message, helps = f"ep {request.ep} for a model without experts", ("set `ep_size: 1`; shard with dp or tp",)
    elif experts % request.ep:
        message = f"ep {request.ep} does not divide the model's {experts} experts"
        helps = (f"ep can be {either(divisors(experts, most=256))}",)
    else:
        return
    yield Finding("ep_divides_experts", "error", message, reason, ("ep",), helps)


def ep_does_not_shrink_dense_weights(request: LayoutRequest) -> Iterator[Finding]:
    """Only experts are divided by ``ep``; attention and embeddings are not. For memory, raise ``ep`` before ``tp``."""
    experts = request.model.experts
    if not experts or request.tp == 1 or request.ep >= min(experts, request.tp):
        return
    message = f"tp {request.tp} with ep {request.ep} for a model of {experts} experts"
    reason = "most weights of such a model are in the experts, and ep divides those without splitting matrices"
    helps = (f"raise ep first: {either(divisors(experts, most=64))}",)
    yield Finding("ep_does_not_shrink_dense_weights", "warning", message, reason, ("ep", "tp"), helps)
