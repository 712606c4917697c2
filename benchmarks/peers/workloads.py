"""What every peer trains, and with which optimizer. Nothing heavy is imported here: start-up is measured too."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOME = Path(os.environ.get("BENCH_HOME", ".bench")).absolute()
"""Where data, environments and working files lie."""

DATA = HOME / "peers"

LEARNING_RATE, BETAS, EPS, WEIGHT_DECAY = 1e-3, (0.9, 0.999), 1e-8, 0.0
MAX_NORM = 1.0
RANK, ALPHA = 16, 32
LORA_TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")

QUIET = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Environment of every run: no network, no side work."""


@dataclass(frozen=True)
class Workload:
    """Rows of equal length through a small Llama; ``lora`` trains adapters alone."""

    title: str
    length: int = 256
    batch: int = 8
    lora: bool = False
    rows: str = "rows.jsonl"
    model: str = "llama"
    adapter: str = "adapter"

    @property
    def tokens(self) -> int:
        """Tokens of one step."""
        return self.batch * self.length


WORKLOADS = {
    "w1": Workload("W1, dense: every weight is trained"),
    "w4": Workload("W4, LoRA: rank 16 on every linear layer of the blocks", lora=True),
}

MAX_STEPS = 40
"""There are rows for as many steps."""


def optimizer_settings() -> dict[str, Any]:
    """Return the keywords of ``torch.optim.AdamW``."""
    return {"lr": LEARNING_RATE, "betas": BETAS, "eps": EPS, "weight_decay": WEIGHT_DECAY, "fused": True}


def batches(workload: Workload, steps: int) -> list[list[list[int]]]:
    """Return the token ids of the first ``steps`` batches, in the order in which every peer takes them."""
    wanted = steps * workload.batch
    with open(DATA / workload.rows, encoding="utf-8") as lines:
        rows = [json.loads(line)["input_ids"] for line, _ in zip(lines, range(wanted), strict=False)]
    return [rows[start : start + workload.batch] for start in range(0, wanted, workload.batch)]


def parse_run(variants: Sequence[str] = ("",)) -> argparse.Namespace:
    """Return what the parent process asked of a peer: ``workload`` (a :class:`Workload`), ``steps`` and ``variant``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("steps", type=int)
    parser.add_argument("--variant", default=variants[0], choices=variants)
    arguments = parser.parse_args()
    arguments.workload = WORKLOADS[arguments.workload]
    return arguments
