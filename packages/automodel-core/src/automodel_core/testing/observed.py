"""What a run did, from its record and its checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import load_file

import automodel_core as am

TIMING: Final = frozenset({"mem", "tps", "mfu", "seconds"})
"""Fields of a record that differ between equal runs."""


def records(directory: Path, event: str) -> list[dict[str, Any]]:
    """Return the records of ``event`` in the order they were written, without what depends on the clock."""
    lines = (directory / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    found = [record for record in map(json.loads, lines) if record["event"] == event]
    return [{key: value for key, value in record.items() if key not in TIMING} for record in found]


def tensors(checkpoint: Path) -> dict[str, torch.Tensor]:
    """Return every tensor of every safetensors file below ``checkpoint``, by file and key."""
    return {
        f"{file.relative_to(checkpoint)}:{key}": tensor
        for file in sorted(checkpoint.rglob("*.safetensors"))
        for key, tensor in load_file(file).items()
    }


def differing(first: Path, second: Path) -> list[str]:
    """Return which tensors of two checkpoints are not equal bit for bit, and which only one of them has."""
    one, other = tensors(first), tensors(second)
    missing = sorted(one.keys() ^ other.keys())
    return missing + [name for name in one.keys() & other.keys() if not torch.equal(one[name], other[name])]


class EventLog:
    """A plugin that notes the events of a run, in order."""

    def __init__(self) -> None:
        self.events: list[str] = []

    @am.hookimpl
    def run_started(self) -> None:
        self.events.append("started")

    @am.hookimpl
    def step_finished(self, sample: Any) -> None:
        self.events.append(f"step {sample.step}")

    @am.hookimpl
    def validation_finished(self, sample: Any) -> None:
        self.events.append(f"validated {sample.step}")

    @am.hookimpl
    def checkpoint_saved(self, step: int) -> None:
        self.events.append(f"saved {step}")

    @am.hookimpl
    def run_finished(self, outcome: str) -> None:
        self.events.append(outcome)
