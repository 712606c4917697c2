"""Numbers of steps that the run never reaches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from automodel_core.config.rules.rule import Situation
from automodel_core.diagnostics import Diagnostic

if TYPE_CHECKING:
    from automodel_core.config.run_config import RunConfig


def warmup_beyond_end(situation: Situation) -> Iterator[Diagnostic]:
    """The learning rate never reaches its peak when warming up takes longer than the run."""
    config = situation.config
    scheduler = config.lr_scheduler
    warmup = None if scheduler is None else scheduler.kwargs.get("warmup_steps")
    yield from _beyond_end(config, "AM901", "lr_scheduler.warmup_steps", warmup, "the learning rate never peaks")


def val_check_interval_beyond_end(situation: Situation) -> Iterator[Diagnostic]:
    """Only the last step validates when the interval is longer than the run."""
    config = situation.config
    interval = config.step_scheduler.val_check_interval
    yield from _beyond_end(
        config, "AM902", "step_scheduler.val_check_interval", interval, "only the last step validates"
    )


def checkpoint_interval_beyond_end(situation: Situation) -> Iterator[Diagnostic]:
    """Only the last step saves when the interval is longer than the run."""
    config = situation.config
    interval = config.step_scheduler.checkpoint_interval
    yield from _beyond_end(config, "AM903", "step_scheduler.checkpoint_interval", interval, "only the last step saves")


def log_interval_beyond_end(situation: Situation) -> Iterator[Diagnostic]:
    """The console shows two steps when the interval, given by the user, is longer than the run."""
    config = situation.config
    interval = config.step_scheduler.log_interval if config.span("step_scheduler.log_interval") else None
    yield from _beyond_end(
        config, "AM904", "step_scheduler.log_interval", interval, "the console shows the first and the last step"
    )


def _beyond_end(config: RunConfig, code: str, key: str, value: Any, effect: str) -> Iterator[Diagnostic]:
    last = config.step_scheduler.max_steps
    if last is None or not isinstance(value, int | float) or isinstance(value, bool) or value <= last:
        return
    message = f"`{key}` is {value} and the run has {last} steps, so {effect}"
    helps = (f"lower it, or raise `step_scheduler.max_steps` above {last}",)
    yield Diagnostic(code, message, config.span(key), f"more than {last}", helps, severity="warning")
