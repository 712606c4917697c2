"""What the console says of a run, as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from automodel_core.observability.samples import MetricsSample, ValidationSample
from automodel_core.training.precision import trainable_dtypes

if TYPE_CHECKING:
    from automodel_core.training.run_state import RunState


def opening_lines(run: RunState) -> Iterator[str]:
    """Yield what was built and what is to come."""
    for planned in run.build.plan:
        seconds = run.build.seconds.get(planned.stage.value)
        took = "nothing to do" if seconds is None else f"{seconds:.2f} s"
        yield f"stage {planned.stage.value}: {planned.because} ({took})"
    parameters = sum(p.numel() for p in run.model.parameters())
    trainable = sum(p.numel() for p in run.model.parameters() if p.requires_grad)
    share = 100 * trainable / max(parameters, 1)
    dtypes = " and ".join(trainable_dtypes(run.model))
    yield f"model: {parameters:,} parameters, {trainable:,} trainable ({share:.2f} %) in {dtypes}, on {run.device}"
    scheduler = run.scheduler
    if scheduler.step > 0:
        yield f"resumed after step {scheduler.step}, in epoch {scheduler.epoch}"
    if not scheduler.finished:
        yield f"run: steps {scheduler.step + 1:,} to {scheduler.total_steps:,}, {scheduler.steps_per_epoch:,} an epoch"


def step_line(sample: MetricsSample, total_steps: int) -> str:
    """Return the line of a step."""
    mfu = "" if sample.mfu is None else f" mfu={100 * sample.mfu:.1f}%"
    return (
        f"step={sample.step}/{total_steps} epoch={sample.epoch} loss={sample.loss:.4f} "
        f"grad_norm={sample.grad_norm:.4g} lr={sample.lr:.3g} mem={sample.mem:.2f}GiB tps={sample.tps:,.0f}{mfu}"
    )


def validation_line(sample: ValidationSample) -> str:
    """Return the line of a validation pass."""
    if sample.targets == 0:
        return f"warning: {sample.name} after step {sample.step} had nothing to compare with: no target was found"
    metrics = "".join(f" {name}={value:.4g}" for name, value in sample.metrics.items())
    return (
        f"{sample.name}: step={sample.step} loss={sample.loss:.4f}{metrics} targets={sample.targets} "
        f"seconds={sample.seconds:.1f}"
    )


def checkpoint_line(step: int, directory: str) -> str:
    """Return the line of a checkpoint."""
    return f"checkpoint: step={step} directory={directory}"


def unsupervised_line(step: int, so_far: int) -> str:
    """Return the warning about a step without targets."""
    return f"warning: step {step} had nothing to learn from ({so_far} so far)"
