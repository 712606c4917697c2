"""What the two peers built on ``transformers.Trainer`` share."""

from __future__ import annotations

from typing import Any

import torch
from transformers import Trainer, TrainerCallback

from peers.meter import Meter
from peers.workloads import BETAS, EPS, HOME, LEARNING_RATE, MAX_NORM, WEIGHT_DECAY, Workload


def training_arguments(workload: Workload, steps: int) -> dict[str, Any]:
    """Return the common optimizer, rows in their order, and no side work."""
    return {
        "output_dir": str(HOME / "work"),
        "per_device_train_batch_size": workload.batch,
        "max_steps": steps,
        "learning_rate": LEARNING_RATE,
        "lr_scheduler_type": "constant",
        "adam_beta1": BETAS[0],
        "adam_beta2": BETAS[1],
        "adam_epsilon": EPS,
        "weight_decay": WEIGHT_DECAY,
        "max_grad_norm": MAX_NORM,
        "train_sampling_strategy": "sequential",
        "logging_steps": 10,
        "save_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
        "use_cpu": True,
        "bf16": False,
        "dataloader_pin_memory": False,
    }


class StepEnds(TrainerCallback):
    """Tells the meter of every step."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.meter.step_ended()


def noting_losses(trainer: type[Trainer], meter: Meter) -> type[Trainer]:
    """Return ``trainer`` with every loss noted in full precision: what it logs is rounded."""

    class Noting(trainer):  # type: ignore[valid-type, misc]
        def training_step(self, *arguments: Any, **keywords: Any) -> torch.Tensor:
            loss = super().training_step(*arguments, **keywords)
            meter.losses.append(loss.item())
            return loss

    return Noting
