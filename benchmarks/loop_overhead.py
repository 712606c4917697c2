"""What the product's loop costs beside a loop written by hand.

    python benchmarks/loop_overhead.py [--rounds 5] [--steps 30]

Both train the same model from the same weights, on the same data in the same order, with the same optimizer; each
round runs the two in turn, in a process of its own. Prints tokens per CPU-second as a ratio (product / hand-written),
peak resident memory as a ratio, the largest difference between the losses of a step, and the fixed cost of a step on a
model that is nearly empty. CPU time is used because it stays meaningful when other jobs share the machine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WARM_UP = 3
SIZES = {
    "small": {"hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4, "vocab_size": 2048},
    "empty": {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "vocab_size": 64},
}
LENGTH = {"small": 256, "empty": 8}
BATCH = {"small": 4, "empty": 1}


def make_model(directory: Path, size: str) -> None:
    """Save a random Llama."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(**SIZES[size], num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=False)
    LlamaForCausalLM(config).save_pretrained(directory)


class RandomTokens:
    """``rows`` samples of fixed length that are a function of their index."""

    def __init__(self, rows: int, length: int, vocabulary: int) -> None:
        self.rows, self.length, self.vocabulary = rows, length, vocabulary

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, index: int):
        import torch

        from automodel_llm.data.prompt_answer import TextSample

        generator = torch.Generator().manual_seed(index)
        ids = torch.randint(0, self.vocabulary, (self.length,), generator=generator).tolist()
        return TextSample(ids, [*ids[1:], -100])


def dataset(size: str, steps: int) -> RandomTokens:
    """Return the data of one run."""
    return RandomTokens(steps * BATCH[size], LENGTH[size], SIZES[size]["vocab_size"])


def run_by_hand(model_directory: Path, size: str, steps: int) -> dict:
    """Train with a plain loop over plain transformers."""
    import torch
    from torch.nn import functional as F
    from torch.utils.data import DataLoader
    from transformers import AutoModelForCausalLM

    from automodel_core.data.order import GlobalOrder

    data = dataset(size, steps)

    def collate(samples):
        return torch.tensor([s.input_ids for s in samples]), torch.tensor([s.labels for s in samples])

    torch.manual_seed(42)
    model = AutoModelForCausalLM.from_pretrained(model_directory, dtype=torch.float32).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batches = list(GlobalOrder(len(data), 42).batches(0, BATCH[size]))
    losses, ends = [], []
    for input_ids, labels in DataLoader(data, batch_sampler=batches, collate_fn=collate):
        logits = model(input_ids=input_ids, use_cache=False).logits
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        ends.append((time.process_time(), time.perf_counter()))
    return {"losses": losses, "ends": ends}


def run_product(model_directory: Path, size: str, steps: int) -> dict:
    """Train with the product; the data set comes in through the hook that builds the loader."""
    import automodel_core as am
    from automodel_core.data.loader import OrderedLoader
    from automodel_llm.data.collate import PaddedCollate

    ends, losses = [], []

    class Bench:
        @am.hookimpl
        def build_dataloader(self, config, split):
            if split != "train":
                return am.NOTHING
            return OrderedLoader(dataset(size, steps), BATCH[size], PaddedCollate(), seed=42)

        @am.hookimpl
        def step_finished(self, sample):
            losses.append(sample.loss)
            ends.append((time.process_time(), time.perf_counter()))

    with tempfile.TemporaryDirectory() as home:
        config = {
            "model": {"_target_": "NeMoAutoModelForCausalLM.from_pretrained", "name_or_path": str(model_directory)},
            "dataset": {"_target_": "SquadDataset", "tokenizer_name_or_path": "unused"},
            "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-4},
            "step_scheduler": {"max_steps": steps, "log_interval": 10},
            "checkpoint": {"enabled": False, "directory": home},
        }
        am.run(config, route="finetune llm", plugins=[Bench()])
    return {"losses": losses, "ends": ends}


def child(kind: str, model_directory: Path, size: str, steps: int) -> None:
    """Run one side and print its result as the last line of stdout."""
    import resource

    import torch

    torch.set_num_threads(1)
    run = run_product if kind == "product" else run_by_hand
    result = run(model_directory, size, steps)
    result["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


def measure(kind: str, model_directory: Path, size: str, steps: int) -> dict:
    """Run one side in a process of its own and return CPU and wall seconds of each step after the warm-up."""
    command = [sys.executable, __file__, "--child", kind, str(model_directory), size, "--steps", str(steps)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{kind} failed:\n{done.stderr}")
    result = json.loads(done.stdout.splitlines()[-1])
    steady = result["ends"][WARM_UP:]
    pairs = list(itertools.pairwise(steady))
    return {
        "cpu": statistics.median(b[0] - a[0] for a, b in pairs),
        "peak": result["peak"],
        "losses": result["losses"],
    }


def compare(size: str, rounds: int, steps: int) -> list[tuple[dict, dict]]:
    """Return (product, by hand) of each round; which goes first alternates."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        make_model(Path(folder), size)
        for number in range(rounds):
            kinds = ("product", "hand") if number % 2 else ("hand", "product")
            found = {kind: measure(kind, Path(folder), size, steps) for kind in kinds}
            results.append((found["product"], found["hand"]))
    return results


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", nargs=3, metavar=("KIND", "MODEL", "SIZE"), help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30)
    arguments = parser.parse_args()
    if arguments.child:
        kind, model, size = arguments.child
        child(kind, Path(model), size, arguments.steps)
        return
    pairs = compare("small", arguments.rounds, arguments.steps)
    speed = [hand["cpu"] / product["cpu"] for product, hand in pairs]
    memory = [product["peak"] / hand["peak"] for product, hand in pairs]
    apart = max(abs(a - b) for p, h in pairs for a, b in zip(p["losses"], h["losses"], strict=True))
    print(f"tokens per CPU-second, product / by hand: {spread(speed)} (target >= 0.98)")
    print(f"peak memory, product / by hand:           {spread(memory)} (target <= 1.05)")
    print(f"largest difference between losses of a step: {apart:.2e} (target <= 1e-6)")
    empty = compare("empty", arguments.rounds, 200)
    fixed = [1000 * (product["cpu"] - hand["cpu"]) for product, hand in empty]
    print(f"fixed cost of a step beyond the hand-written one: {spread(fixed)} ms (target <= 2)")


def spread(values: list[float]) -> str:
    """Return the median with the range."""
    return f"{statistics.median(values):.3f} [{min(values):.3f} .. {max(values):.3f}]"


if __name__ == "__main__":
    main()
