"""Warnings about configs that are valid and still not what was meant. One small pure function each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from automodel_core.config.rules.effect import checkpoint_keys_without_checkpoints, validation_dataloader_without_data
from automodel_core.config.rules.intervals import (
    checkpoint_interval_beyond_end,
    log_interval_beyond_end,
    val_check_interval_beyond_end,
    warmup_beyond_end,
)
from automodel_core.config.rules.spelling import notes_of_aliases
from automodel_core.config.rules.validation import cadence_without_validation_data, validation_data_without_cadence
from automodel_core.diagnostics import Diagnostic

if TYPE_CHECKING:
    from automodel_core.config.run_config import RunConfig

RULES: tuple[Callable[[RunConfig], Iterable[Diagnostic]], ...] = (
    warmup_beyond_end,
    val_check_interval_beyond_end,
    checkpoint_interval_beyond_end,
    log_interval_beyond_end,
    validation_data_without_cadence,
    cadence_without_validation_data,
    checkpoint_keys_without_checkpoints,
    validation_dataloader_without_data,
    notes_of_aliases,
)


def all_warnings(config: RunConfig) -> tuple[Diagnostic, ...]:
    """Return what every rule has to say about ``config``."""
    return tuple(warning for rule in RULES for warning in rule(config))
