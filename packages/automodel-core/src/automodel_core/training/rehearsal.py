"""An optimizer and a schedule tried on one small parameter, so that what fails at some step fails before the first."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any, Final

import torch

from automodel_core.config import Component, RunConfig
from automodel_core.config.components import build_component, resolve_target
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

MOST_STEPS: Final = 10_000
"""A schedule is tried for so many steps at most."""


def rehearse_optimizer(component: Component, config: RunConfig) -> torch.optim.Optimizer:
    """Return the optimizer of ``component`` after one step of a small parameter with a gradient.

    Raises :class:`InputError`: AM212 when it refuses its arguments, AM213 when it cannot be stepped as the loop does.
    """
    parameter = torch.nn.Parameter(torch.ones(2, 2))
    parameter.grad = torch.ones(2, 2)
    optimizer: torch.optim.Optimizer = _tried(
        component, lambda: build_component(component, config.vocabulary, params=[parameter])
    )
    _tried(component, optimizer.step)
    return optimizer


def rehearse_schedule(component: Component, config: RunConfig, total_steps: int) -> None:
    """Step the schedule of ``component`` as often as the run will, on an optimizer of the run's kind.

    Raises :class:`InputError`: AM213 when it fails at a step or leaves the learning rate negative or not finite.
    """
    optimizer = rehearse_optimizer(config.optimizer, config) if config.optimizer is not None else _plain()
    target = resolve_target(component, config.vocabulary)
    if isinstance(target, type) and issubclass(target, torch.optim.lr_scheduler.ReduceLROnPlateau):
        raise InputError(_refused(component, "it needs a figure at every step, which the loop does not have"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = {**schedule_arguments(component, config, total_steps), "optimizer": optimizer}
        made = _tried(component, lambda: build_component(component, config.vocabulary, **given))
        for step in range(1, min(total_steps, MOST_STEPS) + 1):
            optimizer.step()
            _tried(component, made.step, step)
            _check_rates(component, optimizer, step)


def schedule_arguments(component: Component, config: RunConfig, total_steps: int) -> dict[str, Any]:
    """Return what the run gives a schedule beside its optimizer: ``total_steps``, where it takes them and has none."""
    target = resolve_target(component, config.vocabulary)
    wanted = "total_steps" in inspect.signature(target).parameters and "total_steps" not in component.kwargs
    return {"total_steps": total_steps} if wanted else {}


def _plain() -> torch.optim.Optimizer:
    return torch.optim.AdamW([torch.nn.Parameter(torch.ones(2, 2))])


def _tried(component: Component, call: Callable[[], Any], step: int | None = None) -> Any:
    try:
        return call()
    except InputError:
        raise
    except Exception as error:  # whatever a library raises for arguments that it took before
        where = "" if step is None else f"at step {step}, "
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(_refused(component, f"{where}{reason}")) from error


def _check_rates(component: Component, optimizer: torch.optim.Optimizer, step: int) -> None:
    for group in optimizer.param_groups:
        rate = float(group["lr"])
        if rate < 0 or not math.isfinite(rate):
            raise InputError(_refused(component, f"the learning rate is {rate:g} after step {step}"))


def _refused(component: Component, reason: str) -> Diagnostic:
    return Diagnostic("AM213", f"`{component.target}` cannot be used in a run: {reason}", component.span)
