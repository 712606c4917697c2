"""Builders: the first answer that is not ``None`` wins. Called on the host of one run, in the order of ``setup()``.

``None`` means "not mine, ask the next". To say that a run has no such component, answer ``automodel_core.NOTHING``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from automodel_core.hookspecs.markers import hookspec

if TYPE_CHECKING:
    import torch
    from torch import nn

    from automodel_core.checkpoint.config import CheckpointConfig
    from automodel_core.config import RunConfig
    from automodel_core.data.loader import OrderedLoader
    from automodel_core.infrastructure.blueprint import Blueprint, ModelAdapter
    from automodel_core.training.batches import Batch, StepLoss
    from automodel_core.training.run_state import ModelState, RunState, Stateful
    from automodel_core.training.step_scheduler import StepScheduler


@hookspec(firstresult=True)
def build_processor(config: RunConfig) -> Any:
    """Return the tokenizer or processor of the run, or ``NOTHING``. Called first, before the model."""


@hookspec(firstresult=True)
def build_model(config: RunConfig) -> Blueprint | nn.Module:
    """Return the model.

    A :class:`Blueprint` holds a module on the meta device and where its weights are; the pipeline reads them after
    sharding. A plain ``nn.Module`` is accepted and keeps the weights it has. It is asked for before the stages run.
    """


@hookspec(firstresult=True)
def state_dict_adapter(config: RunConfig, model: nn.Module) -> ModelAdapter:
    """Return the adapter between the names of a plain ``nn.Module`` and those of its files.

    Not called for a blueprint, which brings its own.
    """


@hookspec(firstresult=True)
def build_optimizer(config: RunConfig, model: nn.Module) -> torch.optim.Optimizer:
    """Return the optimizer of ``model``'s trainable parameters. Called after every stage of the pipeline."""


@hookspec(firstresult=True)
def build_dataset(config: RunConfig, split: str, processor: Any) -> Any:
    """Return the data set of ``split`` (``"train"`` or ``"validation"``), or ``NOTHING``.

    It has a length and samples by index. One with ``at(index, epoch)`` draws anew in each epoch: it is asked for a
    sample with that instead.
    """


@hookspec(firstresult=True)
def build_collate(config: RunConfig, split: str, processor: Any) -> Any:
    """Return what makes a micro-batch of a list of samples: a callable that worker processes can be given."""


@hookspec(firstresult=True)
def build_dataloader(config: RunConfig, split: str, processor: Any) -> Any:
    """Return the data loader of ``split`` (``"train"`` or ``"validation"``), or ``NOTHING`` without such data."""


@hookspec(firstresult=True)
def build_loss_fn(config: RunConfig) -> Any:
    """Return the loss: a callable that gives a *sum* over targets, so that the loop can divide by the group's count."""


@hookspec(firstresult=True)
def build_lr_scheduler(config: RunConfig, optimizer: torch.optim.Optimizer, total_steps: int) -> Any:
    """Return the learning-rate scheduler, stepped once an optimizer step, or ``NOTHING``."""


@hookspec(firstresult=True)
def build_step_scheduler(config: RunConfig, micro_batches_per_epoch: int) -> StepScheduler:
    """Return the arithmetic of the run: when to stop, validate, save and log."""


@hookspec(firstresult=True)
def build_checkpoint_config(config: RunConfig) -> CheckpointConfig:
    """Return where, what and how many checkpoints are kept."""


@hookspec(firstresult=True)
def count_targets(batch: Batch) -> int:
    """Return how many targets (supervised tokens, pairs, pixels' samples) a micro-batch on the host has.

    The loss of a group is the sum over its targets divided by their number, over all ranks.
    """


@hookspec(firstresult=True)
def forward_backward(run: RunState, group: Sequence[Batch], normaliser: float) -> StepLoss:
    """Run forward and backward over the micro-batches of one optimizer step, and return the summed loss.

    The domain's only part of the loop. The loss that is back-propagated is the sum over targets divided by
    ``normaliser`` (the number of targets of the whole group, at least 1). Gradients are accumulated, not zeroed.
    """


@hookspec(firstresult=True)
def evaluate(run: ModelState, batch: Batch) -> StepLoss:
    """Return the summed loss and the number of targets of one validation batch. Model in eval mode, no gradients."""


@hookspec(firstresult=True)
def measure(run: ModelState, name: str, loader: OrderedLoader) -> Mapping[str, float]:
    """Return figures beside the loss over all of ``loader``: accuracy, recall, or none.

    Called after the loss of a validation pass was taken. Model in eval mode, no gradients; ``name`` is the pass's.
    """


@hookspec(firstresult=True)
def stateful_parts(run: RunState) -> Mapping[str, Stateful]:
    """Return what else a run needs to go on: parts with a state of tensors, by the names of their files.

    Called once everything else is built. A checkpoint holds ``state/<name>.safetensors``, which is put back on resume.
    """


@hookspec(firstresult=True)
def exported_weights(run: ModelState) -> Mapping[str, torch.Tensor]:
    """Return the weights that a checkpoint shows to other tools, by the names of ``model.state_dict()``.

    Where adapters alone are saved, they are taken from it. Who answers with other weights than those that train keeps
    the latter in one of :func:`stateful_parts`.
    """


@hookspec(firstresult=True)
def export_model(run: ModelState, directory: str) -> bool:
    """Write what belongs beside the weights (configuration, tokenizer or processor files) into ``directory``.

    Called while a checkpoint is written. Return ``True`` when it is done, ``None`` to leave it to the next.
    """
