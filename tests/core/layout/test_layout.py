"""The two identities, the meshes and their groups, against hand-made cases and published layouts."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from automodel_core.layout import Layout, LayoutError, Mesh
from automodel_core.layout.layout import broken_identities, is_seed_product

TABLE = Path(__file__).parents[2] / "data" / "published_layouts.tsv"

BREAK_BOTH = {
    "deepseek_v3_pretrain_64gpu_h100_bf16_config",
    "deepseek_v3_pretrain_64gpu_h100_fp8cs_config",
    "deepseek_v3_pretrain_128gpu_vr200_bf16_config",
    "deepseek_v3_pretrain_128gpu_vr200_fp8cs_config",
    "deepseek_v3_pretrain_128gpu_vr200_fp8mx_config",
    "deepseek_v3_pretrain_128gpu_vr200_nvfp4_config",
    "qwen3_235b_a22b_pretrain_64gpu_gb200_fp8cs_config",
    "qwen3_235b_a22b_pretrain_64gpu_gb200_fp8mx_config",
    "qwen3_235b_a22b_pretrain_64gpu_gb200_nvfp4_config",
    "qwen3_235b_a22b_pretrain_64gpu_gb300_bf16_config",
    "qwen3_235b_a22b_pretrain_64gpu_gb300_fp8cs_config",
    "qwen3_235b_a22b_pretrain_64gpu_gb300_fp8mx_config",
    "qwen3_235b_a22b_pretrain_64gpu_gb300_nvfp4_config",
}
"""Their GPUs are fewer than one copy of the experts takes."""


def published() -> list[dict[str, str]]:
    with TABLE.open() as lines:
        return [row for row in csv.DictReader(lines, delimiter="\t") if row["gpus"]]


def sizes(row: dict[str, str]) -> dict[str, int]:
    return {name: int(row[name]) for name in ("tp", "pp", "cp", "ep", "etp")}


def test_published_layouts_keep_both_identities_but_for_the_known_ones() -> None:
    rows = published()

    broken = {row["recipe"]: broken_identities(int(row["gpus"]), **sizes(row)) for row in rows}

    assert len(rows) == 740
    assert {recipe for recipe, found in broken.items() if found} == BREAK_BOTH
    assert {tuple(found) for found in broken.values() if found} == {("expert",)}


def test_the_plain_product_refuses_published_mixtures_of_experts_that_work() -> None:
    moe = [row for row in published() if int(row["ep"]) > 1]

    refused = [r for r in moe if not is_seed_product(int(r["gpus"]), *(int(r[k]) for k in ("tp", "pp", "cp", "ep")))]

    assert (len(moe), len(refused)) == (420, 89)
    assert {row["recipe"] for row in refused} >= BREAK_BOTH


def test_deepseek_v3_on_1024_ranks() -> None:
    layout = Layout(1024, tp=2, pp=16, ep=64)

    assert (layout.dp, layout.edp) == (32, 1)
    assert not layout.is_seed_product()
    assert layout.dense_mesh.shape == (16, 1, 32, 1, 2)
    assert layout.expert_mesh.shape == (16, 1, 64, 1)


def test_ranks_of_one_stage_are_the_same_on_both_meshes() -> None:
    layout = Layout(16, tp=2, pp=2, ep=4)

    for rank in range(16):
        assert layout.dense_mesh.coordinates(rank)["pp"] == layout.expert_mesh.coordinates(rank)["pp"] == rank // 8


def test_groups_of_a_mesh_by_hand() -> None:
    mesh = Mesh((("pp", 2), ("dp", 2), ("tp", 2)))

    assert mesh.groups("tp") == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert mesh.groups("dp") == ((0, 2), (1, 3), (4, 6), (5, 7))
    assert mesh.groups("pp") == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert mesh.groups("dp", "tp") == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert mesh.group(6, "pp") == (2, 6)
    assert mesh.groups() == tuple((rank,) for rank in range(8))


@pytest.mark.parametrize(
    ("world", "given", "identities", "said"),
    [
        (8, {"tp": 3}, ("dense",), "8 ranks are not divided by pp 1 x cp 1 x tp 3 = 3"),
        (8, {"ep": 16}, ("expert",), "8 ranks are not divided by pp 1 x ep 16 x etp 1 = 16"),
        (8, {"tp": 16, "ep": 3}, ("dense", "expert"), "tp 16"),
        (8, {"dp_replicate": 3}, ("dp",), "8 data-parallel ranks are not divided by dp_replicate 3"),
        (0, {}, ("size",), "`world` must be at least 1"),
        (8, {"tp": 0, "cp": -1}, ("size",), "`tp` and `cp` must be at least 1"),
    ],
)
def test_sizes_that_are_no_layout(world: int, given: dict[str, int], identities: tuple[str, ...], said: str) -> None:
    with pytest.raises(LayoutError, match=re.escape(said)) as refused:
        Layout(world, **given)

    assert refused.value.identities == identities


def test_a_mesh_refuses_what_is_not_on_it() -> None:
    mesh = Mesh((("dp", 2), ("tp", 2)))

    with pytest.raises(ValueError, match="rank 4 is not on a mesh of 4"):
        mesh.coordinates(4)
    with pytest.raises(ValueError, match="has no axis `cp`"):
        mesh.groups("cp")
    with pytest.raises(ValueError, match="`tp` has no coordinate 2"):
        mesh.rank({"dp": 0, "tp": 2})
