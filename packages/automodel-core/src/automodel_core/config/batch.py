"""How many micro-batches make an optimizer step, as a config says it: directly, or by the global batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from automodel_core.layout import Batch

if TYPE_CHECKING:
    from automodel_core.config.run_config import RunConfig


def accumulation_steps(config: RunConfig, data_parallel: int) -> int:
    """Return the micro-batches of one step on one of ``data_parallel`` ranks.

    A global batch that they cannot make is what the rule ``global_batch`` refuses; here it is rounded down.
    """
    section = config.step_scheduler
    return _steps(
        section.grad_accumulation_steps, section.global_batch_size, config.dataloader.batch_size, data_parallel
    )


def saved_accumulation_steps(values: Mapping[str, Any]) -> int:
    """Return the same of a resolved config that is plain data, of one rank."""
    scheduler, loader = values.get("step_scheduler") or {}, values.get("dataloader") or {}
    given, whole = scheduler.get("grad_accumulation_steps"), scheduler.get("global_batch_size")
    return _steps(given, whole, loader.get("batch_size") or 1, 1)


def _steps(given: int | None, global_batch: int | None, micro_batch: int, data_parallel: int) -> int:
    if global_batch is None:
        return given or 1
    return max(1, global_batch // Batch(micro_batch, data_parallel).global_batch)
