"""Which observers of the core watch a run."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.observability.console import ConsoleLog
from automodel_core.observability.json_lines import JsonLines
from automodel_core.observability.loss_plot import LossPlot
from automodel_core.observability.optional_packages import is_installed

if TYPE_CHECKING:
    from automodel_core.config import RunConfig


@attrs.frozen
class TrackerKind:
    """The tracker behind the key ``key`` of ``logging``; any one of ``modules`` does, ``package`` brings the first."""

    key: str
    observer: str
    modules: tuple[str, ...]
    package: str


_TRACKERS = "automodel_core.observability.trackers"
TRACKERS: Final = (
    TrackerKind(
        "tensorboard", f"{_TRACKERS}.tensorboard:TensorboardTracker", ("tensorboard", "tensorboardX"), "tensorboard"
    ),
    TrackerKind("wandb", f"{_TRACKERS}.weights_and_biases:WandbTracker", ("wandb",), "wandb"),
    TrackerKind("mlflow", f"{_TRACKERS}.mlflow:MlflowTracker", ("mlflow",), "mlflow"),
    TrackerKind("trackio", f"{_TRACKERS}.trackio:TrackioTracker", ("trackio",), "trackio"),
)


def observers(config: RunConfig) -> tuple[object, ...]:
    """Return the observers that ``config.logging`` asks for; the last one is told of an event first.

    Raises :class:`InputError` when a tracker is asked for whose package is not installed.
    """
    asked = [kind for kind in TRACKERS if _is_asked_for(getattr(config.logging, kind.key))]
    problems = missing_trackers(asked, config)
    if problems:
        raise InputError(problems)
    # At the end the record is complete first, then the picture, and the console has the last word.
    return (ConsoleLog(), LossPlot(), JsonLines(), *(_observer(kind) for kind in asked))


def _is_asked_for(section: Any) -> bool:
    return section is not None and getattr(section, "enabled", True)


def missing_trackers(asked: Sequence[TrackerKind], config: RunConfig) -> list[Diagnostic]:
    """Return a problem for each tracker of which no module is installed."""
    return [
        Diagnostic(
            "AM345",
            f"`logging.{kind.key}` needs the package `{kind.package}`",
            config.span(f"logging.{kind.key}"),
            "not installed",
            (f"pip install {kind.package}", f"or remove `{kind.key}` from `logging`"),
        )
        for kind in asked
        if not any(map(is_installed, kind.modules))
    ]


def _observer(kind: TrackerKind) -> Any:
    module, _, name = kind.observer.partition(":")
    return getattr(importlib.import_module(module), name)()
