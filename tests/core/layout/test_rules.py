"""Each rule of layouts: what it refuses, what it lets pass, its reason and its help."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from automodel_core.layout import RULES, LayoutRequest, Machine, ModelShape, findings

LLAMA_8B = ModelShape(layers=32, heads=32, kv_heads=8, experts=0, longest_sequence=8192)
QWEN_MOE = ModelShape(layers=48, heads=32, kv_heads=4, experts=128)


def said(rule: str, **given: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    found = findings(LayoutRequest(**given))
    return [(one.severity, one.message, one.helps) for one in found if one.rule == rule]


def test_rule_1_tp_divides_key_value_heads() -> None:
    for tp in (1, 2, 4, 8):
        assert said("tp_divides_kv_heads", tp=tp, model=LLAMA_8B) == []
    assert said("tp_divides_kv_heads", tp=16, model=LLAMA_8B) == [
        (
            "error",
            "tp 16 does not divide the model's 8 key-value heads",
            ("tp can be 1, 2, 4 or 8", "or write `replicate_kv: true`: ranks then hold copies of a head"),
        )
    ]
    assert said("tp_divides_kv_heads", tp=16, replicate_kv=True, model=LLAMA_8B) == []
    assert len(said("tp_divides_kv_heads", tp=12, replicate_kv=True, model=LLAMA_8B)) == 1
    assert said("tp_divides_kv_heads", tp=3) == []


def test_rule_2_tp_stays_where_nvlink_reaches() -> None:
    assert said("tp_within_nvlink_domain", tp=8) == []
    ((severity, message, helps),) = said("tp_within_nvlink_domain", tp=16)
    assert (severity, message) == ("warning", "tp 16 leaves the 8 ranks that NVLink joins")
    assert helps[0] == "tp 8 stays within; raise pp instead"
    assert said("tp_within_nvlink_domain", tp=16, machine=Machine(4, 72)) != []
    assert said("tp_within_nvlink_domain", tp=36, machine=Machine(4, 72)) == []


def test_rule_3_few_pipeline_stages() -> None:
    assert said("few_pipeline_stages", pp=4, micro_batches=12) == []
    ((severity, message, helps),) = said("few_pipeline_stages", pp=4, micro_batches=4)
    assert severity == "warning"
    assert message == "pp 4 with 4 micro-batches a step leaves each rank waiting 43% of the time"
    assert helps[0] == "12 micro-batches wait 20%"
    assert said("few_pipeline_stages", pp=4, micro_batches=4, virtual_stages=3) == []


def test_rule_4_ep_divides_experts_only() -> None:
    assert said("ep_divides_experts", ep=8, model=QWEN_MOE) == []
    assert said("ep_divides_experts", ep=3, model=QWEN_MOE) == [
        ("error", "ep 3 does not divide the model's 128 experts", ("ep can be 1, 2, 4, 8, 16, 32, 64 or 128",))
    ]
    ((_, message, helps),) = said("ep_divides_experts", ep=2, model=LLAMA_8B)
    assert (message, helps) == ("ep 2 for a model without experts", ("set `ep_size: 1`; shard with dp or tp",))
    ((severity, _, helps),) = said("ep_does_not_shrink_dense_weights", tp=4, model=QWEN_MOE)
    assert severity == "warning"
    assert helps[0].startswith("raise ep first: 1, 2, 4")
    assert said("ep_does_not_shrink_dense_weights", tp=4, ep=4, model=QWEN_MOE) == []
    assert said("ep_does_not_shrink_dense_weights", tp=4, model=LLAMA_8B) == []


def test_rule_5_sequence_parallel_with_tp() -> None:
    assert said("sequence_parallel_with_tp", tp=2) == []
    assert said("sequence_parallel_with_tp", tp=2, sequence_parallel=True) == []
    assert said("sequence_parallel_with_tp", tp=2, sequence_parallel=False)[0][0] == "warning"
    assert said("sequence_parallel_with_tp", tp=1, sequence_parallel=True)[0][1].endswith("no effect with tp 1")


def test_rule_6_cp_needs_an_exchange_that_fits() -> None:
    assert said("cp_communication", cp=8, cp_comm_type="a2a", model=LLAMA_8B) == []
    ((severity, message, helps),) = said("cp_communication", cp=8, tp=2, cp_comm_type="a2a", model=LLAMA_8B)
    assert (severity, message) == ("error", "`a2a` cannot deal 4 key-value heads of a rank to cp 8")
    assert "a2a+p2p" in helps[0]
    assert said("cp_communication", cp=16, cp_comm_type="a2a+p2p", model=LLAMA_8B) == []
    assert said("cp_communication", cp=16, cp_comm_type="p2p", model=LLAMA_8B) == []


def test_rule_7_world_is_a_product() -> None:
    assert said("world_is_a_product", world=8, tp=2, pp=2) == []
    assert said("world_is_a_product", tp=3) == []
    assert said("world_is_a_product", dp=5, tp=3) == []
    ((_, message, helps),) = said("world_is_a_product", world=8, tp=3)
    assert message == "8 ranks are not divided by pp 1 x cp 1 x tp 3 = 3"
    assert helps == ("these sizes take 6 or 9 ranks",)
    ((_, message, helps),) = said("world_is_a_product", world=8, tp=2, dp=2)
    assert message == "8 ranks leave 4 for data parallelism, and dp_size is 2"
    assert helps == ("write `dp_size: 4` or `dp_size: auto`, or start 4 ranks",)
    ((_, message, helps),) = said("world_is_a_product", world=4, ep=8)
    assert helps == ("these sizes take 8 ranks",)


def test_experts_may_use_ranks_of_dp_and_tp() -> None:
    assert said("world_is_a_product", world=4, tp=2, ep=4) == []


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({"strategy": "ddp", "tp": 2}, 1),
        ({"strategy": "ddp", "tp": 2, "pp": 2, "cp": 2, "ep": 2, "dp_replicate": 2}, 5),
        ({"strategy": "ddp"}, 0),
        ({"strategy": "megatron_fsdp", "pp": 2, "ep": 2}, 2),
        ({"strategy": "megatron_fsdp", "tp": 2, "sequence_parallel": True}, 1),
        ({"strategy": "megatron_fsdp", "tp": 2, "cp": 2}, 0),
        ({"strategy": "fsdp2", "tp": 2, "pp": 2, "cp": 2, "ep": 2, "dp_replicate": 2}, 0),
    ],
)
def test_limits_of_strategies(given: dict[str, Any], count: int) -> None:
    assert [severity for severity, _, _ in said("strategy_limits", **given)] == ["error"] * count


def test_heads_stages_and_sequences() -> None:
    assert said("tp_divides_heads", tp=3, model=ModelShape(heads=9, kv_heads=3)) == []
    assert said("tp_divides_heads", tp=2, model=ModelShape(heads=9))[0][2] == ("tp can be 1, 3 or 9",)
    assert said("stages_have_layers", pp=40, model=LLAMA_8B)[0][2] == ("pp can be up to 32",)
    assert said("stages_have_layers", pp=16, virtual_stages=4, model=LLAMA_8B)[0][2] == ("pp can be up to 8",)
    assert said("stages_have_layers", pp=32, model=LLAMA_8B) == []
    assert said("cp_divides_the_sequence", cp=4, sequence_length=4096) == []
    assert said("cp_divides_the_sequence", cp=4, sequence_length=1004)[0][2] == ("use 1000 or 1008 tokens",)
    assert said("cp_divides_the_sequence", cp=4, sequence_length=5)[0][2] == ("use 8 tokens",)


def test_every_finding_gives_a_reason_and_names_sizes_of_the_request() -> None:
    fields = {field.name for field in attrs.fields(LayoutRequest)}
    requests = [
        LayoutRequest(
            "ddp", 7, 3, 5, 50, 3, 7, sequence_parallel=False, sequence_length=7, micro_batches=1, model=LLAMA_8B
        ),
        LayoutRequest("megatron_fsdp", 7, tp=16, pp=3, cp=3, ep=2, cp_comm_type="a2a", model=QWEN_MOE, micro_batches=1),
        LayoutRequest(world=8, dp_replicate=3, sequence_parallel=True),
    ]

    found = [finding for request in requests for finding in findings(request)]

    assert {finding.rule for finding in found} == {rule.__name__ for rule in RULES}
    for finding in found:
        assert finding.reason
        assert finding.sizes
        assert set(finding.sizes) <= fields


def test_errors_come_first() -> None:
    severities = [f.severity for f in findings(LayoutRequest(world=7, tp=16, sequence_parallel=False))]

    assert severities == sorted(severities)
    assert set(severities) == {"error", "warning"}
