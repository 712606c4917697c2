"""Keys that have no effect beside others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from automodel_core.config.rules.rule import Situation
from automodel_core.diagnostics import Diagnostic

if TYPE_CHECKING:
    pass


def checkpoint_keys_without_checkpoints(situation: Situation) -> Iterator[Diagnostic]:
    """``checkpoint.enabled: false`` leaves the keys about saving without effect."""
    config = situation.config
    if config.checkpoint.enabled:
        return
    for key in ("step_scheduler.checkpoint_interval", "checkpoint.keep_last"):
        span = config.span(key)
        if span is not None and config.document.at(key).to_data() is not None:  # type: ignore[union-attr]
            message = f"`{key}` has no effect: `checkpoint.enabled` is false"
            helps = ("remove it, or set `checkpoint.enabled: true`",)
            yield Diagnostic("AM907", message, span, "no effect", helps, severity="warning")


def validation_dataloader_without_data(situation: Situation) -> Iterator[Diagnostic]:
    """``validation_dataloader`` is not read without a ``validation_dataset``."""
    config = situation.config
    loader = config.validation_dataloader
    is_set = any(value is not None for value in (loader.batch_size, loader.num_workers, loader.pin_memory))
    if config.validation_dataset is not None or not is_set:
        return
    message = "`validation_dataloader` has no effect: there is no `validation_dataset`"
    span = config.span("validation_dataloader")
    yield Diagnostic("AM908", message, span, "no effect", ("add a `validation_dataset:`",), severity="warning")
