"""Micro-batch x data-parallel ranks x accumulation is the global batch, exactly."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.config.rules.layout import layout_request
from automodel_core.config.rules.rule import Situation
from automodel_core.diagnostics import Diagnostic
from automodel_core.layout import Batch, nearest_global_batches
from automodel_core.layout.batch import legal_micro_batches


def global_batch(situation: Situation) -> Iterator[Diagnostic]:
    """``step_scheduler.global_batch_size`` is reached by whole micro-batches, and by the accumulation given beside it.

    Without a number of ranks, one data-parallel rank is the least that must work.
    """
    config = situation.config
    wanted, given = config.step_scheduler.global_batch_size, config.step_scheduler.grad_accumulation_steps
    if wanted is None:
        return
    micro, ranks = config.dataloader.batch_size, data_parallel_ranks(situation)
    place = config.span("step_scheduler.global_batch_size")
    try:
        batch = Batch.of_global(wanted, micro, ranks)
    except ValueError as error:
        near = nearest_global_batches(wanted, micro, ranks)
        smaller = legal_micro_batches(wanted, ranks, most=micro)
        helps = (
            "write " + " or ".join(f"`global_batch_size: {value}`" for value in near),
            *([f"or `dataloader.batch_size: {smaller[-1]}`"] if smaller else []),
        )
        yield Diagnostic("AM156", str(error), place, "", helps)
        return
    if given is not None and given != batch.accumulation:
        message = (
            f"micro-batch {micro} x data-parallel ranks {ranks} x accumulation {given} = "
            f"{Batch(micro, ranks, given).global_batch}, and `global_batch_size` is {wanted}"
        )
        helps = (f"remove `grad_accumulation_steps`, or write `grad_accumulation_steps: {batch.accumulation}`",)
        yield Diagnostic("AM156", message, config.span("step_scheduler.grad_accumulation_steps"), "", helps)


def data_parallel_ranks(situation: Situation) -> int:
    """Return over how many ranks the batch is split, 1 where that is not known or makes no layout."""
    request = layout_request(situation)
    if request.dp is not None:
        return request.dp
    return max(1, (situation.world_size or 1) // (request.tp * request.pp * request.cp))
