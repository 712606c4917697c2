"""Timing of one run, printed as one line of JSON.

A step lasts from the end of the step before it to its own end, so that loading, collation, logging and callbacks are
inside it. CPU time of one thread is used because it stays meaningful when other jobs share the machine.
"""

from __future__ import annotations

import itertools
import json
import statistics
import time
from pathlib import Path

WARM_UP = 3
"""Steps that are not counted: allocations and kernel selection."""


def peak_memory_mib() -> float:
    """Return the peak resident memory of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


class Meter:
    """Notes the end of each step and its loss."""

    def __init__(self) -> None:
        self.ends: list[float] = []
        self.losses: list[float] = []

    def step_ended(self, loss: float | None = None) -> None:
        """Note that an optimizer step has ended. ``loss`` may be noted apart, in ``losses``."""
        self.ends.append(time.process_time())
        if loss is not None:
            self.losses.append(loss)

    def emit(self, tokens: int) -> None:
        """Print the result of steps of ``tokens`` each as the last line of stdout."""
        steady = [later - earlier for earlier, later in itertools.pairwise(self.ends[WARM_UP - 1 :])]
        result = {
            "tokens_per_cpu_s": tokens / statistics.median(steady),
            "first_step_cpu_s": self.ends[0],
            "peak_mib": peak_memory_mib(),
            "losses": self.losses,
        }
        print(f"\n{json.dumps(result)}", flush=True)
