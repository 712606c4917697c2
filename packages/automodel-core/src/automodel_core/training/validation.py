"""One pass over validation data: eval mode, no gradients, and the model left as it was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs
import torch
from torch import nn

from automodel_core.data.loader import OrderedLoader
from automodel_core.observability.samples import ValidationSample
from automodel_core.training.batches import StepLoss, add_losses
from automodel_core.training.run_state import ModelState, RunState


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Put ``model`` into eval mode without gradients; every module's own mode comes back, after an error too."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training


def evaluate_loader(
    state: ModelState, loader: OrderedLoader, stop: Callable[[], bool] = lambda: False
) -> StepLoss | None:
    """Return the summed loss over every batch of ``loader``, in float64 on the host; ``None`` when told to ``stop``."""
    losses: list[StepLoss] = []
    with evaluation_mode(state.model):
        for batch in loader.batches(0):
            if stop():
                return None
            loss: StepLoss = state.host.build("evaluate", run=state, batch=batch)
            losses.append(attrs.evolve(loss, total=loss.total.to("cpu", torch.float64)))
    return add_losses(losses)


def measure_loader(state: ModelState, name: str, loader: OrderedLoader) -> dict[str, float]:
    """Return the recipe's figures beside the loss over ``loader``."""
    with evaluation_mode(state.model):
        return dict(state.host.build("measure", run=state, name=name, loader=loader))


def validate(
    run: RunState, name: str, loader: OrderedLoader, *, epoch: int, stop: Callable[[], bool]
) -> ValidationSample | None:
    """Return the loss over ``loader`` (the sum over its targets divided by their number) after a step of ``epoch``.

    ``stop`` is asked before each batch; ``None`` is returned when it says so.
    """
    started = time.perf_counter()
    loss = evaluate_loader(run, loader, stop)
    if loss is None:
        return None
    return ValidationSample(
        metrics=measure_loader(run, name, loader),
        step=run.scheduler.step,
        epoch=epoch,
        loss=loss.mean,
        targets=loss.targets,
        seconds=time.perf_counter() - started,
        name=name,
    )
