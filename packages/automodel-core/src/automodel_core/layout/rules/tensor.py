"""Tensor parallelism: heads are dealt to ranks that talk in every layer."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.layout.request import LayoutRequest
from automodel_core.layout.rules.finding import Finding, divisors, either


def tp_divides_heads(request: LayoutRequest) -> Iterator[Finding]:
    """Each tensor-parallel rank computes whole attention heads."""
    heads = request.model.heads
    if heads is None or heads % request.tp == 0:
        return
    message = f"tp {request.tp} does not divide the model's {heads} attention heads"
    reason = "each tensor-parallel rank computes whole heads"
    helps = (f"tp can be {either(divisors(heads, most=64))}",)
    yield Finding("tp_divides_heads", "error", message, reason, ("tp",), helps)


def tp_divides_kv_heads(request: LayoutRequest) -> Iterator[Finding]:
    """Grouped-query attention has fewer key-value heads, and those are dealt to ranks too.

    With ``replicate_kv`` a multiple of their number is allowed: some ranks then hold the same head.
    """
    kv_heads = request.model.kv_heads
    if kv_heads is None or kv_heads % request.tp == 0:
        return
    is_multiple = request.tp % kv_heads == 0
    if is_multiple and request.replicate_kv:
        return
    message = f"tp {request.tp} does not divide the model's {kv_heads} key-value heads"
    reason = "each tensor-parallel rank holds whole key-value heads (grouped-query attention)"
    helps = [f"tp can be {either(divisors(kv_heads))}"]
    if is_multiple:
        helps.append("or write `replicate_kv: true`: ranks then hold copies of a head")
    yield Finding("tp_divides_kv_heads", "error", message, reason, ("tp",), tuple(helps))


def tp_within_nvlink_domain(request: LayoutRequest) -> Iterator[Finding]:
    """Tensor parallelism stays where NVLink reaches: one node, or a domain of several."""
    domain = request.machine.nvlink_domain
    if request.tp <= domain and domain % request.tp == 0:
        return
    message = f"tp {request.tp} leaves the {domain} ranks that NVLink joins"
    reason = "it sends activations twice in every layer, which the network between nodes makes slow"
    fitting = divisors(domain, most=request.tp)
    helps = [f"tp {fitting[-1]} stays within; raise pp instead"]
    if request.tp > domain:
        helps.append(f"or say that NVLink joins more: `nvlink_domain_size: {request.tp}`")
    yield Finding("tp_within_nvlink_domain", "warning", message, reason, ("tp",), tuple(helps))


def sequence_parallel_with_tp(request: LayoutRequest) -> Iterator[Finding]:
    """Sequence parallelism is on whenever tensor parallelism is, and is nothing without it."""
    if request.tp > 1 and request.sequence_parallel is False and request.strategy != "megatron_fsdp":
        message = f"sequence parallelism is off with tp {request.tp}"
        reason = "it removes copies of activations on every tensor-parallel rank and costs no more communication"
        helps = ("remove `sequence_parallel: false`",)
        yield Finding("sequence_parallel_with_tp", "warning", message, reason, ("sequence_parallel",), helps)
    if request.tp == 1 and request.sequence_parallel:
        message = "sequence parallelism has no effect with tp 1"
        reason = "it divides activations over tensor-parallel ranks"
        helps = ("remove `sequence_parallel`, or raise `tp_size`",)
        yield Finding("sequence_parallel_with_tp", "warning", message, reason, ("sequence_parallel",), helps)
