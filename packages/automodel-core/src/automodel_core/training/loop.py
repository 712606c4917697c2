"""The loop. There is one, and every domain runs it."""

from __future__ import annotations

import math

from automodel_core.errors import RunFailedError
from automodel_core.observability.samples import MetricsSample
from automodel_core.training.batches import StepLoss
from automodel_core.training.gradients import scale_grads_and_clip_grad_norm
from automodel_core.training.run_state import RunState
from automodel_core.training.saving import save_checkpoint
from automodel_core.training.step_scheduler import Group
from automodel_core.training.throughput import StepClock, flops_per_token, peak_memory
from automodel_core.training.validation import validate


def train(run: RunState) -> None:
    """Take every step that is left: accumulate, clip, update, report; validate and save when due."""
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
        if _after_step(run, group):
            clock.restart()


def _after_step(run: RunState, group: Group) -> bool:
    """Validate and save when due, and return whether either was."""
    validates = run.scheduler.validation_due()
    saves = run.scheduler.checkpoint_due() and run.checkpoints.enabled
    if validates:
        for name, loader in run.validation.items():
            run.host.notify("validation_finished", sample=validate(run, name, loader, epoch=group.epoch))
    if saves:
        save_checkpoint(run)
    return validates or saves


def _finite_mean(loss: StepLoss, group: Group) -> float:
    """Return the mean loss over targets. Raises :class:`RunFailedError` when it is not finite."""
    if not math.isfinite(loss.mean):
        raise RunFailedError(f"the loss of step {group.step} is {loss.mean}; the step was not taken")
    return loss.mean
