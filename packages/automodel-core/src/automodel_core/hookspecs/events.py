"""Events: observers. Results are ignored; an exception in one is reported and the others are still called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from automodel_core.hookspecs.markers import hookspec

if TYPE_CHECKING:
    from automodel_core.infrastructure.plan import PlannedStage
    from automodel_core.observability.samples import MetricsSample, ValidationSample
    from automodel_core.training.run_state import RunState


@hookspec
def run_started(run: RunState) -> None:
    """Everything is built and, when resuming, restored; the first step follows."""


@hookspec
def stage_finished(stage: PlannedStage, seconds: float) -> None:
    """One stage of the infrastructure pipeline has run."""


@hookspec
def step_finished(sample: MetricsSample) -> None:
    """An optimizer step is done. Called for every step, whatever ``log_interval`` says.

    ``sample`` has ``step``, ``epoch``, ``loss``, ``grad_norm``, ``lr``, ``mem`` (GiB), ``tps`` (tokens a second),
    ``mfu`` and ``extras``, a mapping.
    """


@hookspec
def validation_finished(sample: ValidationSample) -> None:
    """A validation pass is done.

    ``sample`` has ``step``, ``epoch``, ``loss``, ``targets``, ``seconds``, ``name`` and ``metrics``, a mapping.
    """


@hookspec
def checkpoint_saved(step: int, directory: str) -> None:
    """A checkpoint is complete on disk."""


@hookspec
def run_finished(outcome: str) -> None:
    """The run ended: ``"finished"``, ``"preempted"`` or ``"failed"``."""
