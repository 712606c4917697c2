"""``trl.SFTTrainer`` on rows of tokens."""

from __future__ import annotations

from datasets import Dataset
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

from peers.meter import Meter
from peers.model_files import load_model
from peers.trainer_glue import StepEnds, noting_losses, training_arguments
from peers.workloads import DATA, batches, parse_run


def main() -> None:
    run = parse_run()
    meter = Meter()
    rows = [{"input_ids": ids} for batch in batches(run.workload, run.steps) for ids in batch]
    settings = training_arguments(run.workload, run.steps)
    trainer = noting_losses(SFTTrainer, meter)(
        model=load_model(run.workload),
        args=SFTConfig(**settings, gradient_checkpointing=False, max_length=run.workload.length),
        train_dataset=Dataset.from_list(rows),
        processing_class=AutoTokenizer.from_pretrained(DATA / run.workload.model),
        callbacks=[StepEnds(meter)],
    )
    trainer.train()
    meter.emit(run.workload.tokens)


if __name__ == "__main__":
    main()
