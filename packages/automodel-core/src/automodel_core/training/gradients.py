"""Scaling and clipping gradients between the backward pass and the optimizer step."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import torch
from torch import nn

from automodel_core.errors import RunFailedError


@attrs.frozen
class GradientNorms:
    """The 2-norm of all gradients together, before and after clipping. Equal when nothing was clipped."""

    before: float
    after: float


@torch.no_grad()
def scale_grads_and_clip_grad_norm(
    model: nn.Module, max_norm: float | None, *, scale: float | None = None
) -> GradientNorms:
    """Multiply every gradient by ``scale``, then scale them all down so that their 2-norm is at most ``max_norm``.

    ``max_norm`` of ``None`` only measures. The coefficient is ``max_norm / (norm + 1e-6)`` where that is below 1, as in
    ``torch.nn.utils.clip_grad_norm_``. Raises :class:`RunFailedError` naming a parameter when the norm is not finite;
    no gradient has been clipped then.
    """
    named = [(name, p) for name, p in model.named_parameters() if p.grad is not None]
    gradients = [p.grad for _, p in named if p.grad is not None]
    if scale is not None and scale != 1.0:
        torch._foreach_mul_(gradients, scale)
    if not gradients:
        return GradientNorms(0.0, 0.0)
    total = torch.nn.utils.get_total_norm(gradients)
    before = float(total)
    if before != before or before in (float("inf"), float("-inf")):
        raise RunFailedError(_non_finite_message(named, before))
    if max_norm is None or before + 1e-6 <= max_norm:
        return GradientNorms(before, before)
    torch.nn.utils.clip_grads_with_norm_([p for _, p in named], max_norm, total)
    return GradientNorms(before, before * max_norm / (before + 1e-6))


def _non_finite_message(named: Iterable[tuple[str, nn.Parameter]], norm: float) -> str:
    for name, parameter in named:
        if parameter.grad is not None and not bool(torch.isfinite(parameter.grad).all()):
            return f"the gradient of `{name}` is not finite; the step was not taken"
    return f"the gradient norm overflowed ({norm}) though every gradient is finite; the step was not taken"
