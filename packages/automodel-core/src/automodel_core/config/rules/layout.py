"""The rules of layouts, asked about ``distributed``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from automodel_core.config.batch import accumulation_steps
from automodel_core.config.component import Component
from automodel_core.config.rules.rule import Situation
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.layout import Finding, LayoutRequest, Machine, findings

CODES_OF_RULES: Final[Mapping[str, str]] = {
    "world_is_a_product": "AM150",
    "strategy_limits": "AM151",
    "tp_divides_heads": "AM152",
    "tp_divides_kv_heads": "AM152",
    "stages_have_layers": "AM153",
    "cp_divides_the_sequence": "AM154",
    "cp_communication": "AM154",
    "ep_divides_experts": "AM155",
    "tp_within_nvlink_domain": "AM912",
    "sequence_parallel_with_tp": "AM913",
    "few_pipeline_stages": "AM914",
    "ep_does_not_shrink_dense_weights": "AM915",
}
_KEYS: Final[Mapping[str, str]] = {
    "dp": "dp_size",
    "tp": "tp_size",
    "pp": "pp_size",
    "cp": "cp_size",
    "ep": "ep_size",
    "etp": "etp_size",
    "dp_replicate": "dp_replicate_size",
}


def layout(situation: Situation) -> Iterator[Diagnostic]:
    """Sizes that make no layout are errors; those that work and are unwise are warnings."""
    for finding in findings(layout_request(situation)):
        yield Diagnostic(
            CODES_OF_RULES[finding.rule],
            f"{finding.message}: {finding.reason}",
            _place(finding, situation),
            "",
            finding.helps,
            severity=finding.severity,
        )


def layout_request(situation: Situation) -> LayoutRequest:
    """Return what the config asks of the layout arithmetic."""
    config, section = situation.config, situation.config.distributed
    dataset = config.sections.get("dataset")
    length = dataset.kwargs.get("max_seq_length") if isinstance(dataset, Component) else None
    return LayoutRequest(
        strategy=section.strategy,
        world=situation.world_size,
        dp=section.dp_size if isinstance(section.dp_size, int) else None,
        tp=section.tp_size,
        pp=section.pp_size,
        cp=section.cp_size,
        ep=section.ep_size,
        etp=section.etp_size,
        dp_replicate=section.dp_replicate_size,
        sequence_parallel=section.sequence_parallel,
        replicate_kv=section.replicate_kv,
        cp_comm_type=section.cp_comm_type,
        sequence_length=length if type(length) is int else None,
        micro_batches=accumulation_steps(config, 1) if section.pp_size > 1 else None,
        model=situation.model,
        machine=Machine(nvlink_domain=section.nvlink_domain_size),
    )


def _place(finding: Finding, situation: Situation) -> Span | None:
    keys = (f"distributed.{_KEYS.get(size, size)}" for size in finding.sizes)
    places = (situation.config.span(key) for key in keys)
    return next((place for place in places if place is not None), situation.config.span("distributed"))
