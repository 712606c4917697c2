"""The loop. There is one, and every domain runs it."""

from __future__ import annotations

import math

from automodel_core.checkpoint.directory import step_directory
from automodel_core.errors import RunFailedError
from automodel_core.observability.samples import MetricsSample
from automodel_core.training.batches import StepLoss
from automodel_core.training.gradients import scale_grads_and_clip_grad_norm
from automodel_core.training.preemption import PreemptedError, Preemption
from automodel_core.training.run_state import RunState
from automodel_core.training.saving import save_checkpoint
from automodel_core.training.step_scheduler import Group
from automodel_core.training.throughput import StepClock, flops_per_token, peak_memory
from automodel_core.training.validation import validate


def train(run: RunState, preemption: Preemption) -> None:
    """Take every step that is left: accumulate, clip, update, report; validate and save when due.

    Raises :class:`PreemptedError`, after saving, when ``preemption`` has received a signal and steps are left.
    """
    clock = StepClock(run.device, flops_per_token(run.build.adapter, run.model))
    max_norm = run.config.clip_grad_norm.max_norm
    run.model.train()
    for group in run.scheduler.groups():
        batches = run.stream.take(group.count)
        targets = sum(run.host.build("count_targets", batch=batch) for batch in batches)

        loss: StepLoss = run.host.build("forward_backward", run=run, group=batches, normaliser=float(max(targets, 1)))
        mean_loss = _finite_mean(loss, group)
        norms = scale_grads_and_clip_grad_norm(run.model, max_norm)
        learning_rate = float(run.optimizer.param_groups[0]["lr"])
        run.optimizer.step()
        if run.lr_scheduler is not None:
            run.lr_scheduler.step()
        run.optimizer.zero_grad()
        run.scheduler.advance(group)

        rate, mfu = clock.lap(loss)
        sample = MetricsSample(
            step=group.step,
            epoch=group.epoch,
            loss=mean_loss,
            grad_norm=norms.after,
            lr=learning_rate,
            mem=peak_memory(run.device),
            tps=rate,
            mfu=mfu,
            extras={"grad_norm_before_clip": norms.before, "targets": loss.targets, "tokens": loss.tokens},
        )
        run.host.notify("step_finished", sample=sample)
        if _after_step(run, group, preemption):
            clock.restart()


def _after_step(run: RunState, group: Group, preemption: Preemption) -> bool:
    """Validate and save when due, and return whether either was. A signal cuts validation short and saves."""
    validates = run.scheduler.validation_due()
    saves = run.scheduler.checkpoint_due() and run.checkpoints.enabled
    if validates:
        for name, loader in run.validation.items():
            sample = validate(run, name, loader, epoch=group.epoch, stop=lambda: preemption.received is not None)
            if sample is not None:
                run.host.notify("validation_finished", sample=sample)
    preempted = preemption.received is not None and not run.scheduler.finished
    if saves or (preempted and run.checkpoints.enabled):
        save_checkpoint(run)
    if preempted:
        raise PreemptedError(_preempted_message(run, str(preemption.received)))
    return validates or saves


def _preempted_message(run: RunState, received: str) -> str:
    step = run.scheduler.step
    if not run.checkpoints.enabled:
        return f"{received} came: stopped after step {step}, and nothing is saved since `checkpoint.enabled` is false"
    saved = step_directory(run.checkpoints.directory, step)
    return f"{received} came: stopped after step {step} and saved; go on with `--restore_from.path {saved}`"


def _finite_mean(loss: StepLoss, group: Group) -> float:
    """Return the mean loss over targets. Raises :class:`RunFailedError` when it is not finite."""
    if not math.isfinite(loss.mean):
        raise RunFailedError(
            f"the loss of step {group.step} is {loss.mean}; the step was not taken. Look at the samples of that step, "
            "lower `optimizer.lr` or lengthen its warm-up; checkpoints written before are untouched"
        )
    return loss.mean
