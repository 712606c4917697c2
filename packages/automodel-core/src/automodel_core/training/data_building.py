"""The loader of a split, as the ``dataloader`` and ``validation_dataloader`` sections say."""

from __future__ import annotations

from typing import Any

from automodel_core.config import RunConfig
from automodel_core.data.loader import OrderedLoader
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def loader_of(config: RunConfig, split: str, dataset: Any, collate: Any) -> OrderedLoader:
    """Return the micro-batches of ``dataset``: for ``"train"`` shuffled where asked, for another split as they lie."""
    train, held_out = config.dataloader, config.validation_dataloader
    training = split == "train"
    return OrderedLoader(
        dataset,
        batch_size=train.batch_size if training else held_out.batch_size or train.batch_size,
        collate=collate,
        seed=config.rng.seed,
        shuffle=train.shuffle and training,
        num_workers=train.num_workers if training or held_out.num_workers is None else held_out.num_workers,
        pin_memory=train.pin_memory if training or held_out.pin_memory is None else held_out.pin_memory,
    )


def refuse_packing(config: RunConfig) -> None:
    """Raise :class:`InputError` (AM340) when packing is asked for."""
    if config.packed_sequence.packs:
        key = "enabled" if config.packed_sequence.enabled else "size"
        helps = ("remove `packed_sequence`: batches are then padded to their longest sample",)
        place = config.span(f"packed_sequence.{key}")
        raise InputError(Diagnostic("AM340", "packed sequences are not available yet", place, helps=helps))
