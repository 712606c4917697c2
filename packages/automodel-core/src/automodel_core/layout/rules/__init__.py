"""What is wrong, or unwise, in a layout: one small pure rule each, with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from automodel_core.layout.request import LayoutRequest
from automodel_core.layout.rules.context import cp_communication, cp_divides_the_sequence
from automodel_core.layout.rules.expert import ep_divides_experts, ep_does_not_shrink_dense_weights
from automodel_core.layout.rules.finding import Finding
from automodel_core.layout.rules.pipeline import few_pipeline_stages, stages_have_layers
from automodel_core.layout.rules.strategy import strategy_limits
from automodel_core.layout.rules.tensor import (
    sequence_parallel_with_tp,
    tp_divides_heads,
    tp_divides_kv_heads,
    tp_within_nvlink_domain,
)
from automodel_core.layout.rules.world import world_is_a_product

__all__ = ["RULES", "Finding", "Rule", "findings"]

Rule = Callable[[LayoutRequest], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    world_is_a_product,
    strategy_limits,
    tp_divides_heads,
    tp_divides_kv_heads,
    tp_within_nvlink_domain,
    sequence_parallel_with_tp,
    stages_have_layers,
    few_pipeline_stages,
    cp_divides_the_sequence,
    cp_communication,
    ep_divides_experts,
    ep_does_not_shrink_dense_weights,
)


def findings(request: LayoutRequest) -> tuple[Finding, ...]:
    """Return what every rule has to say, errors first."""
    found = [finding for rule in RULES for finding in rule(request)]
    return tuple(sorted(found, key=lambda finding: finding.severity != "error"))
