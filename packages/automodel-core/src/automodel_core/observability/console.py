"""Progress on stderr as plain ``key=value`` lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

from automodel_core.hookspecs import hookimpl
from automodel_core.observability.samples import MetricsSample, ValidationSample

if TYPE_CHECKING:
    from automodel_core.training.run_state import RunState
    from automodel_core.training.step_scheduler import StepScheduler


class ConsoleLog:
    """Prints what the run plans, the steps that ``log_interval`` lets through, validations and checkpoints."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._scheduler: StepScheduler | None = None
        self._unsupervised = 0

    @hookimpl
    def run_started(self, run: RunState) -> None:
        self._scheduler = run.scheduler
        for planned in run.build.plan:
            seconds = run.build.seconds.get(planned.stage.value)
            took = "nothing to do" if seconds is None else f"{seconds:.2f} s"
            self._print(f"stage {planned.stage.value}: {planned.because} ({took})")
        parameters = sum(p.numel() for p in run.model.parameters())
        trainable = sum(p.numel() for p in run.model.parameters() if p.requires_grad)
        share = 100 * trainable / max(parameters, 1)
        self._print(f"model: {parameters:,} parameters, {trainable:,} trainable ({share:.2f} %), on {run.device}")
        steps = run.scheduler.total_steps
        self._print(f"run: steps {run.scheduler.step + 1} to {steps}, {run.scheduler.steps_per_epoch} an epoch")

    @hookimpl
    def step_finished(self, sample: MetricsSample) -> None:
        if sample.extras.get("targets") == 0:
            self._unsupervised += 1
            self._print(f"warning: step {sample.step} had nothing to learn from ({self._unsupervised} so far)")
        if self._scheduler is None or not self._scheduler.log_due():
            return
        mfu = "" if sample.mfu is None else f" mfu={100 * sample.mfu:.1f}%"
        self._print(
            f"step={sample.step}/{self._scheduler.total_steps} epoch={sample.epoch} loss={sample.loss:.4f} "
            f"grad_norm={sample.grad_norm:.4g} lr={sample.lr:.3g} mem={sample.mem:.2f}GiB tps={sample.tps:,.0f}{mfu}"
        )

    @hookimpl
    def validation_finished(self, sample: ValidationSample) -> None:
        self._print(
            f"{sample.name}: step={sample.step} loss={sample.loss:.4f} targets={sample.targets} "
            f"seconds={sample.seconds:.1f}"
        )

    @hookimpl
    def checkpoint_saved(self, step: int, directory: str) -> None:
        self._print(f"checkpoint: step={step} directory={directory}")

    @hookimpl
    def run_finished(self, outcome: str) -> None:
        self._print(f"run {outcome}")

    def _print(self, *parts: Any) -> None:
        print(*parts, file=self._stream or sys.stderr, flush=True)
