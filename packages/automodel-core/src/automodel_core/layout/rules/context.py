"""Context parallelism: one sequence over several ranks."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.layout.request import LayoutRequest
from automodel_core.layout.rules.finding import Finding


def cp_divides_the_sequence(request: LayoutRequest) -> Iterator[Finding]:
    """A causal mask is balanced by giving each rank one chunk from either end, so there are 2 x cp equal chunks."""
    length, chunks = request.sequence_length, 2 * request.cp
    if request.cp == 1 or length is None or length % chunks == 0:
        return
    message = f"a sequence of {length} tokens is not divided by 2 x cp = {chunks}"
    reason = "each rank reads a chunk from either end of the sequence, so that a causal mask gives all equal work"
    below = length // chunks * chunks
    helps = (f"use {f'{below} or ' if below else ''}{below + chunks} tokens",)
    yield Finding("cp_divides_the_sequence", "error", message, reason, ("cp",), helps)


def cp_communication(request: LayoutRequest) -> Iterator[Finding]:
    """Attention over ranks needs an exchange: a ring (``p2p``), ``a2a``, or both (``a2a+p2p``).

    ``a2a`` alone gives each rank whole heads, so that cp x tp is at most the number of key-value heads.
    """
    kv_heads = request.model.kv_heads
    if request.cp == 1 or request.cp_comm_type != "a2a" or kv_heads is None:
        return
    per_rank = max(1, kv_heads // request.tp)
    if per_rank % request.cp == 0:
        return
    message = f"`a2a` cannot deal {per_rank} key-value heads of a rank to cp {request.cp}"
    reason = "it trades sequence chunks for whole heads"
    helps = ("write `cp_comm_type: p2p` for a ring, or `a2a+p2p` for both",)
    yield Finding("cp_communication", "error", message, reason, ("cp_comm_type", "cp"), helps)
