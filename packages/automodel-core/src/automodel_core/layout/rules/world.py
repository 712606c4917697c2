"""The number of ranks is the product of the sizes."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.layout.layout import broken_identities
from automodel_core.layout.request import LayoutRequest
from automodel_core.layout.rules.finding import Finding, divisors, either

_REASON = "every rank has one place on the mesh of dense weights and one on the mesh of expert weights"


def world_is_a_product(request: LayoutRequest) -> Iterator[Finding]:
    """``world = pp x dp x cp x tp`` for dense weights and ``world = pp x edp x ep x etp`` for expert weights.

    Without a number of ranks, a given ``dp`` makes it.
    """
    explicit = request.pp * request.cp * request.tp
    world = request.world if request.world is not None else request.dp and explicit * request.dp
    if world is None:
        return
    sizes = {name: getattr(request, name) for name in ("tp", "pp", "cp", "ep", "etp", "dp_replicate")}
    broken = broken_identities(world, **sizes)
    for identity, message in broken.items():
        yield Finding(
            "world_is_a_product",
            "error",
            message,
            _REASON,
            _blamed(identity, request),
            _nearest(identity, request, world),
        )
    if "dense" not in broken and request.dp is not None and request.dp != world // explicit:
        message = f"{world} ranks leave {world // explicit} for data parallelism, and dp_size is {request.dp}"
        helps = (f"write `dp_size: {world // explicit}` or `dp_size: auto`, or start {explicit * request.dp} ranks",)
        yield Finding("world_is_a_product", "error", message, _REASON, ("dp",), helps)


def _blamed(identity: str, request: LayoutRequest) -> tuple[str, ...]:
    names = {"dense": ("tp", "cp", "pp"), "expert": ("ep", "etp", "pp"), "dp": ("dp_replicate",)}.get(identity, ())
    return tuple(name for name in names if getattr(request, name) > 1) or names


def _nearest(identity: str, request: LayoutRequest, world: int) -> tuple[str, ...]:
    if identity == "dp":
        return (f"dp_replicate can be {either(divisors(world // (request.pp * request.cp * request.tp), most=64))}",)
    if identity == "size":
        return ("write a number from 1",)
    first, second = (request.cp, request.tp) if identity == "dense" else (request.ep, request.etp)
    unit = request.pp * first * second
    below, above = world // unit * unit, (world // unit + 1) * unit
    return (f"these sizes take {f'{below} or {above}' if below else above} ranks",)
