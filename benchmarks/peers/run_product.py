"""The product: an ordinary run of a config. Rows and, for LoRA, the initial adapter come in through hooks."""

from __future__ import annotations

from typing import Any

import automodel_core as am
from peers.meter import Meter
from peers.workloads import (
    ALPHA,
    DATA,
    HOME,
    LORA_TARGETS,
    MAX_NORM,
    RANK,
    Workload,
    batches,
    optimizer_settings,
    parse_run,
)


class Bench:
    """Gives the run the common rows and weights, and tells the meter of every step."""

    def __init__(self, workload: Workload, steps: int) -> None:
        self.workload, self.steps, self.meter = workload, steps, Meter()

    @am.hookimpl
    def build_dataloader(self, config: am.RunConfig, split: str) -> Any:
        from automodel_core.data.loader import OrderedLoader
        from automodel_llm.data.collate import PaddedCollate
        from automodel_llm.data.prompt_answer import TextSample

        if split != "train":
            return am.NOTHING
        rows = [ids for batch in batches(self.workload, self.steps) for ids in batch]
        samples = [TextSample(ids, [*ids[1:], -100]) for ids in rows]
        return OrderedLoader(samples, config.dataloader.batch_size, PaddedCollate(), shuffle=config.dataloader.shuffle)

    @am.hookimpl
    def run_started(self, run: Any) -> None:
        if not self.workload.lora:
            return
        from safetensors.torch import load_file

        saved = load_file(DATA / self.workload.adapter / "adapter_model.safetensors")
        parameters = dict(run.model.named_parameters())
        for key, value in saved.items():
            parameters[key.removeprefix("base_model.model.").removesuffix(".weight")].data.copy_(value)

    @am.hookimpl
    def step_finished(self, sample: Any) -> None:
        self.meter.step_ended(sample.loss)


def config_of(workload: Workload, steps: int) -> dict[str, Any]:
    """Return the config of the run."""
    model = str(DATA / workload.model)
    lora = {"rank": RANK, "alpha": ALPHA, "target_modules": list(LORA_TARGETS)}
    return {
        "model": {"_target_": "NeMoAutoModelForCausalLM.from_pretrained", "name_or_path": model},
        "dataset": {"_target_": "SquadDataset", "tokenizer_name_or_path": model},
        "dataloader": {"batch_size": workload.batch, "shuffle": False},
        "optimizer": {"_target_": "torch.optim.AdamW", **optimizer_settings()},
        "clip_grad_norm": {"max_norm": MAX_NORM},
        "step_scheduler": {"max_steps": steps},
        "checkpoint": {"enabled": False, "directory": str(HOME / "work" / "product")},
        **({"peft": lora} if workload.lora else {}),
    }


def main() -> None:
    run = parse_run()
    bench = Bench(run.workload, run.steps)
    am.run(config_of(run.workload, run.steps), route="finetune llm", plugins=[bench])
    bench.meter.emit(run.workload.tokens)


if __name__ == "__main__":
    main()
