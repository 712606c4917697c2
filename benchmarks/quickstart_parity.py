"""The quick start's training beside a plain loop over transformers and peft, on the same samples in the same order.

    automodel assets fetch smollm2-135m-instruct wikipedia-descriptions
    python benchmarks/quickstart_parity.py [--steps 60]

Prints the held-out loss before and after for both, and their difference (target: 0.02). The adapters start from
different random numbers, peft's and ours, so the curves are close and not equal.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F

import automodel_core as am
from automodel_core.data.loader import OrderedLoader

STARTER = resources.files("automodel_llm") / "starters" / "smollm2_lora.yaml"


def by_product(steps: int, directory: Path) -> Any:
    """Train the starter and return its recipe: the data, and the loss before and after."""
    overrides = [f"--step_scheduler.max_steps={steps}", f"--checkpoint.directory={directory}"]
    overrides += [f"--step_scheduler.val_check_interval={steps}", "--logging.curve=false"]
    with resources.as_file(STARTER) as config:
        return am.run(str(config), overrides=overrides, route="finetune llm")


def micro_batches(loader: OrderedLoader) -> Iterator[Any]:
    """Yield the micro-batches of every epoch in turn."""
    epoch = 0
    while True:
        yield from loader.batches(epoch)
        epoch += 1


def summed_loss(model: torch.nn.Module, batch: Any) -> tuple[torch.Tensor, int]:
    """Return (loss summed over supervised tokens, their number)."""
    inputs = {k: v for k, v in batch.items() if k != "labels"}
    logits = model(**inputs, use_cache=False).logits
    loss = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten(), reduction="sum")
    return loss, int((batch["labels"] != -100).sum())


@torch.no_grad()
def held_out_loss(model: torch.nn.Module, loader: OrderedLoader) -> float:
    """Return the mean loss over supervised tokens."""
    model.eval()
    parts = [summed_loss(model, batch) for batch in loader.batches(0)]
    model.train()
    return float(sum(loss for loss, _ in parts)) / sum(count for _, count in parts)


def by_hand(run: Any, steps: int) -> tuple[float, float]:
    """Train plain transformers under peft on the loaders of ``run``; return the held-out loss before and after."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    section = run.config.peft
    torch.manual_seed(run.config.rng.seed)
    base = AutoModelForCausalLM.from_pretrained(run.config.model.name_or_path, dtype=torch.float32)
    lora = LoraConfig(r=section.rank, lora_alpha=section.alpha, target_modules="all-linear", task_type="CAUSAL_LM")
    model = get_peft_model(base, lora).train()
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=run.config.optimizer.lr, weight_decay=0.0)
    before = held_out_loss(model, run.validation["validation"])
    batches = micro_batches(run.stream.loader)
    for _ in range(steps):
        loss, count = summed_loss(model, next(batches))
        (loss / count).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return before, held_out_loss(model, run.validation["validation"])


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    steps = parser.parse_args().steps
    with tempfile.TemporaryDirectory() as folder:
        run = by_product(steps, Path(folder)).run
        ours = held_out_loss(run.model, run.validation["validation"])
    before, plain = by_hand(run, steps)
    print(f"held-out loss before:               {before:.4f}")
    print(f"after {steps} steps, plain loop and peft: {plain:.4f}")
    print(f"after {steps} steps, product:             {ours:.4f}")
    print(f"difference:                         {ours - plain:+.4f} (target: within 0.02)")


if __name__ == "__main__":
    main()
