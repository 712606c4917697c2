"""Layout arithmetic against brute force, up to 4,096 ranks."""

from __future__ import annotations

from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_core.layout import Batch, Layout, nearest_global_batches, partition_layers
from automodel_core.layout.batch import legal_micro_batches
from automodel_core.layout.layout import SIZES, broken_identities, is_seed_product

SMALL = st.integers(1, 16)
WORLDS = st.integers(1, 4096) | st.sampled_from([2**n for n in range(13)])


@st.composite
def layouts(draw: st.DrawFn, largest: int = 4096) -> Layout:
    """Draw a legal layout: sizes first, then a number of ranks that both meshes divide."""
    names = ("tp", "pp", "cp", "ep", "etp")
    sizes = {name: draw(st.sampled_from([1, 1, 2, 3, 4, 8])) for name in names}
    unit = sizes["pp"]
    dense, expert = sizes["cp"] * sizes["tp"], sizes["ep"] * sizes["etp"]
    stage = dense * expert // _gcd(dense, expert)
    while unit * stage > largest:
        sizes["ep"] = sizes["etp"] = sizes["cp"] = 1
        dense, expert = sizes["tp"], 1
        stage = dense
    world = unit * stage * draw(st.integers(1, largest // (unit * stage)))
    dp = world // (sizes["pp"] * dense)
    replicate = draw(st.sampled_from([n for n in range(1, dp + 1) if dp % n == 0]))
    return Layout(world, **sizes, dp_replicate=replicate)


def _gcd(one: int, other: int) -> int:
    return one if other == 0 else _gcd(other, one % other)


@given(layouts())
def test_both_meshes_hold_every_rank_once(layout: Layout) -> None:
    for mesh in (layout.dense_mesh, layout.expert_mesh):
        assert mesh.size == layout.world
        assert prod(mesh.shape) == layout.world
        for rank in {0, layout.world // 2, layout.world - 1}:
            assert mesh.rank(mesh.coordinates(rank)) == rank
            assert mesh.coordinates(rank)["pp"] == rank // (layout.world // layout.pp)


@settings(max_examples=60)
@given(layouts(largest=256), st.data())
def test_groups_are_those_that_brute_force_finds(layout: Layout, data: st.DataObject) -> None:
    for mesh in (layout.dense_mesh, layout.expert_mesh):
        axes = tuple(data.draw(st.sets(st.sampled_from(mesh.names))))
        places = [mesh.coordinates(rank) for rank in range(mesh.size)]

        found: dict[tuple[int, ...], list[int]] = {}
        for rank, place in enumerate(places):
            found.setdefault(tuple(place[name] for name in mesh.names if name not in axes), []).append(rank)

        assert sorted(mesh.groups(*axes)) == sorted(tuple(ranks) for ranks in found.values())
        rank = data.draw(st.integers(0, mesh.size - 1))
        (own,) = [group for group in mesh.groups(*axes) if rank in group]
        assert mesh.group(rank, *axes) == own


@given(WORLDS, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL)
def test_a_layout_is_legal_exactly_when_the_sizes_can_be_found_by_search(
    world: int, tp: int, pp: int, cp: int, ep: int, etp: int, replicate: int
) -> None:
    sizes = dict(zip(SIZES, (tp, pp, cp, ep, etp, replicate), strict=True))

    dense = [dp for dp in range(1, world + 1) if pp * dp * cp * tp == world]
    experts = [edp for edp in range(1, world + 1) if pp * edp * ep * etp == world]
    replicas = [shard for dp in dense for shard in range(1, dp + 1) if shard * replicate == dp]
    broken = broken_identities(world, **sizes)

    assert ("dense" in broken) == (not dense)
    assert ("expert" in broken) == (not experts)
    assert ("dp" in broken) == (bool(dense) and not replicas)
    if not broken:
        layout = Layout(world, **sizes)
        assert ([layout.dp], [layout.edp], [layout.dp_shard]) == (dense, experts, replicas)


@given(WORLDS, SMALL, SMALL, SMALL, SMALL)
def test_the_plain_product_implies_both_identities(world: int, tp: int, pp: int, cp: int, ep: int) -> None:
    if is_seed_product(world, tp, pp, cp, ep):
        assert not broken_identities(world, tp, pp, cp, ep)


@given(st.integers(1, 512), st.integers(1, 64))
def test_stages_hold_every_layer_once_in_order_and_in_balance(layers: int, stages: int) -> None:
    if stages > layers:
        return
    parts = partition_layers(layers, stages)

    assert len(parts) == stages
    assert [layer for part in parts for layer in part] == list(range(layers))
    lengths = [len(part) for part in parts]
    assert max(lengths) - min(lengths) <= 1
    if stages > 2:
        assert max(lengths[1:-1]) == max(lengths)


@given(st.integers(1, 512), st.integers(1, 16), st.integers(1, 64))
def test_batches_against_brute_force(global_batch: int, micro_batch: int, data_parallel: int) -> None:
    legal = [n for n in range(1, 2049) if n % (micro_batch * data_parallel) == 0]

    try:
        batch = Batch.of_global(global_batch, micro_batch, data_parallel)
    except ValueError:
        assert global_batch not in legal
        near = nearest_global_batches(global_batch, micro_batch, data_parallel)
        below, above = [n for n in legal if n < global_batch], [n for n in legal if n > global_batch]
        assert near == (*below[-1:], *above[:1])
    else:
        assert batch.global_batch == global_batch
        assert global_batch in legal
    by_search = [n for n in range(1, 17) if global_batch % (n * data_parallel) == 0]
    assert list(legal_micro_batches(global_batch, data_parallel, most=16)) == by_search
