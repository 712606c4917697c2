"""What is asked of a layout, and what is known of the model and the machines that it is for."""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen
class ModelShape:
    """What layout rules ask of a model; ``None`` where its configuration does not say."""

    layers: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    experts: int | None = None
    """Routed experts; 0 for a dense model."""
    longest_sequence: int | None = None


@attrs.frozen
class Machine:
    """``nvlink_domain`` is how many ranks reach each other over NVLink: a node, or several (72 on a GB200 NVL72)."""

    ranks_per_node: int = 8
    nvlink_domain: int = 8


@attrs.frozen
class LayoutRequest:
    """Sizes as the user wrote them. ``None`` for what is not known, such as the number of ranks on a laptop."""

    strategy: Literal["fsdp2", "megatron_fsdp", "ddp"] = "fsdp2"
    world: int | None = None
    dp: int | None = None
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    etp: int = 1
    dp_replicate: int = 1
    virtual_stages: int = 1
    sequence_parallel: bool | None = None
    replicate_kv: bool = False
    cp_comm_type: Literal["p2p", "a2a", "allgather", "a2a+p2p"] | None = None
    sequence_length: int | None = None
    micro_batches: int | None = None
    """Micro-batches of one optimizer step on one rank."""
    model: ModelShape = ModelShape()
    machine: Machine = Machine()
