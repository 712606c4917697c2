"""``transformers.Trainer``."""

from __future__ import annotations

import torch
from transformers import Trainer, TrainingArguments

from peers.meter import Meter
from peers.model_files import load_model
from peers.trainer_glue import StepEnds, noting_losses, training_arguments
from peers.workloads import batches, parse_run


def collate(rows: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
    """Stack rows of one length."""
    ids = torch.tensor([row["input_ids"] for row in rows])
    return {"input_ids": ids, "labels": ids.clone()}


def main() -> None:
    run = parse_run()
    meter = Meter()
    trainer = noting_losses(Trainer, meter)(
        model=load_model(run.workload),
        args=TrainingArguments(**training_arguments(run.workload, run.steps), remove_unused_columns=False),
        train_dataset=[{"input_ids": ids} for batch in batches(run.workload, run.steps) for ids in batch],
        data_collator=collate,
        callbacks=[StepEnds(meter)],
    )
    trainer.train()
    meter.emit(run.workload.tokens)


if __name__ == "__main__":
    main()
