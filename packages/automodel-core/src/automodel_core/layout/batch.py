"""Global batch = micro-batch x data-parallel ranks x accumulation, exactly."""

from __future__ import annotations

from typing import Final

import attrs

_LARGEST_MICRO_BATCH: Final = 65_536
"""Larger ones are not looked for."""


@attrs.frozen
class Batch:
    """One optimizer step: ``accumulation`` micro-batches of ``micro_batch`` samples on each data-parallel rank."""

    micro_batch: int
    data_parallel: int = 1
    accumulation: int = 1

    @property
    def global_batch(self) -> int:
        """Samples of one step over all ranks."""
        return self.micro_batch * self.data_parallel * self.accumulation

    @classmethod
    def of_global(cls, global_batch: int, micro_batch: int, data_parallel: int = 1) -> Batch:
        """Return the batch with the accumulation that reaches ``global_batch``.

        Raise :class:`ValueError` when no whole number of micro-batches does.
        """
        accumulation, rest = divmod(global_batch, micro_batch * data_parallel)
        if rest or accumulation < 1:
            raise ValueError(
                f"a global batch of {global_batch} is not a multiple of micro-batch {micro_batch} x "
                f"data-parallel ranks {data_parallel} = {micro_batch * data_parallel}"
            )
        return cls(micro_batch, data_parallel, accumulation)


def nearest_global_batches(global_batch: int, micro_batch: int, data_parallel: int) -> tuple[int, ...]:
    """Return the legal global batches around ``global_batch``: the largest below and the smallest above."""
    unit = micro_batch * data_parallel
    below = global_batch // unit * unit
    return (below, below + unit) if below else (unit,)


def legal_micro_batches(global_batch: int, data_parallel: int, most: int) -> tuple[int, ...]:
    """Return every micro-batch up to ``most`` that makes ``global_batch`` on so many ranks."""
    per_rank, rest = divmod(global_batch, data_parallel)
    if rest:
        return ()
    return tuple(size for size in range(1, min(most, per_rank, _LARGEST_MICRO_BATCH) + 1) if per_rank % size == 0)
