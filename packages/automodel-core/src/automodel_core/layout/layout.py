"""The parallel sizes of a run, and the two identities that make them one.

Every rank holds a part of the dense weights and, in a mixture of experts, a part of the expert weights. Both views
share the pipeline stages and cut the ranks of one stage differently:

    world = pp x dp x cp x tp          for dense weights
    world = pp x edp x ep x etp        for expert weights

so that the ranks of ``ep`` are ranks of ``dp``, ``cp`` and ``tp`` seen another way. The product
``world = dp x tp x pp x cp x ep`` that is often written instead is the special case in which ``ep`` divides the
data-parallel size; it implies both.
"""

from __future__ import annotations

from math import prod

import attrs

from automodel_core.layout.mesh import Mesh

SIZES = ("tp", "pp", "cp", "ep", "etp", "dp_replicate")


class LayoutError(ValueError):
    """Sizes that do not make a layout; ``identities`` names what is broken: ``size``, ``dense``, ``expert``, ``dp``."""

    def __init__(self, broken: dict[str, str]) -> None:
        super().__init__("; ".join(broken.values()))
        self.identities = tuple(broken)
        self.reasons = tuple(broken.values())


@attrs.frozen
class Layout:
    """How ``world`` ranks are divided. Raise :class:`LayoutError` for sizes that break an identity."""

    world: int
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    etp: int = 1
    dp_replicate: int = 1

    def __attrs_post_init__(self) -> None:
        broken = broken_identities(self.world, **{name: getattr(self, name) for name in SIZES})
        if broken:
            raise LayoutError(broken)

    @property
    def dp(self) -> int:
        """Data-parallel ranks: over so many the batch is split."""
        return self.world // (self.pp * self.cp * self.tp)

    @property
    def dp_shard(self) -> int:
        """Data-parallel ranks that share one copy of the weights."""
        return self.dp // self.dp_replicate

    @property
    def edp(self) -> int:
        """Ranks that hold the same experts."""
        return self.world // (self.pp * self.ep * self.etp)

    @property
    def dense_mesh(self) -> Mesh:
        """Gradients of dense weights, losses and counts are summed over ``dp_replicate``, ``dp_shard`` and ``cp``."""
        shape = (self.pp, self.dp_replicate, self.dp_shard, self.cp, self.tp)
        return Mesh(tuple(zip(("pp", "dp_replicate", "dp_shard", "cp", "tp"), shape, strict=True)))

    @property
    def expert_mesh(self) -> Mesh:
        """Gradients of expert weights are summed over ``edp``."""
        shape = (self.pp, self.edp, self.ep, self.etp)
        return Mesh(tuple(zip(("pp", "edp", "ep", "etp"), shape, strict=True)))

    def is_seed_product(self) -> bool:
        """Return whether ``world = dp x tp x pp x cp x ep`` for a whole number ``dp``."""
        return is_seed_product(self.world, self.tp, self.pp, self.cp, self.ep)


def is_seed_product(world: int, tp: int, pp: int, cp: int, ep: int) -> bool:
    """Return whether the product of all sizes divides ``world``, the strict form of both identities."""
    return world % (tp * pp * cp * ep) == 0


def broken_identities(
    world: int, tp: int = 1, pp: int = 1, cp: int = 1, ep: int = 1, etp: int = 1, dp_replicate: int = 1
) -> dict[str, str]:
    """Return what is wrong with the sizes by the name of the identity; empty for a layout."""
    sizes = dict(zip(("world", *SIZES), (world, tp, pp, cp, ep, etp, dp_replicate), strict=True))
    small = [name for name, size in sizes.items() if size < 1]
    if small:
        return {"size": f"{' and '.join(f'`{name}`' for name in small)} must be at least 1"}
    broken = {}
    if world % (pp * cp * tp):
        broken["dense"] = _not_divided(world, pp=pp, cp=cp, tp=tp)
    elif world // (pp * cp * tp) % dp_replicate:
        dp = world // (pp * cp * tp)
        broken["dp"] = f"{dp} data-parallel ranks are not divided by dp_replicate {dp_replicate}"
    if world % (pp * ep * etp):
        broken["expert"] = _not_divided(world, pp=pp, ep=ep, etp=etp)
    return broken


def _not_divided(world: int, **sizes: int) -> str:
    shown = " x ".join(f"{name} {size}" for name, size in sizes.items())
    return f"{world} ranks are not divided by {shown} = {prod(sizes.values())}"
