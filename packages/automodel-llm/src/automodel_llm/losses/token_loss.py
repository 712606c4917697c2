"""The loss of a config as a sum over supervised tokens, whatever reduction it was written with."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import torch

from automodel_llm.data.prompt_answer import IGNORED
from automodel_llm.losses.cross_entropy import summed_cross_entropy


@attrs.frozen
class SummedTokenLoss:
    """``per_call`` maps (logits (N, V), labels (N,)) to a scalar: a sum, or a mean over labels other than -100.

    A mean per call would weigh a token by how many others share its micro-batch. A sum, divided once by the count of
    the whole accumulation group, does not.
    """

    per_call: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    gives_mean: bool = False

    def __call__(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the sum of the loss. ``logits`` (…, V) are taken in float32, ``labels`` (…) may hold -100."""
        flat_labels = labels.flatten()
        loss = self.per_call(logits.flatten(0, -2).float(), flat_labels)
        if not self.gives_mean:
            return loss
        supervised = int((flat_labels != IGNORED).sum())
        return loss * supervised if supervised else logits.sum() * 0.0


def as_sum(loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> SummedTokenLoss:
    """Return ``loss`` as a sum.

    A torch loss module says its ``reduction`` and is switched to ``sum``; ``none`` is refused with ``ValueError``.
    Plain cross-entropy is computed by :func:`summed_cross_entropy`, which gives the same with less memory. Any other
    callable is taken to return a mean over supervised tokens.
    """
    if not isinstance(loss, torch.nn.modules.loss._Loss):
        return SummedTokenLoss(loss, gives_mean=True)
    if loss.reduction not in ("mean", "sum"):
        raise ValueError(f"`reduction: {loss.reduction}` gives no scalar; leave it out")
    loss.reduction = "sum"
    return SummedTokenLoss(summed_cross_entropy if _is_plain_cross_entropy(loss) else loss)


def _is_plain_cross_entropy(loss: torch.nn.Module) -> bool:
    return (
        type(loss) is torch.nn.CrossEntropyLoss
        and loss.weight is None
        and loss.label_smoothing == 0.0
        and loss.ignore_index == IGNORED
    )
