"""Validation needs data and a cadence; one without the other does nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from automodel_core.config.rules.rule import Situation
from automodel_core.diagnostics import Diagnostic

if TYPE_CHECKING:
    pass


def validation_data_without_cadence(situation: Situation) -> Iterator[Diagnostic]:
    """``validation_dataset`` is not read when nothing says how often to validate."""
    config = situation.config
    if config.validation_dataset is None or config.step_scheduler.val_check_interval is not None:
        return
    message = "`validation_dataset` is given and `step_scheduler.val_check_interval` is not: the run never validates"
    helps = ("add `val_check_interval:` to `step_scheduler`",)
    yield Diagnostic("AM905", message, config.span("validation_dataset"), "not used", helps, severity="warning")


def cadence_without_validation_data(situation: Situation) -> Iterator[Diagnostic]:
    """``val_check_interval`` does nothing without data to validate on."""
    config = situation.config
    if config.validation_dataset is not None or config.step_scheduler.val_check_interval is None:
        return
    message = "`step_scheduler.val_check_interval` is given and `validation_dataset` is not: the run never validates"
    span = config.span("step_scheduler.val_check_interval")
    yield Diagnostic("AM906", message, span, "no effect", ("add a `validation_dataset:`",), severity="warning")
