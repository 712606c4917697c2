"""How long `automodel config validate` takes, from the start of the process to its end.

    python benchmarks/validate_time.py [--runs 15] [--config CFG] [--limit SECONDS]

Beside it, in turn in the same run, a bare interpreter and one that imports the three libraries that reading a config
needs. Prints the median and the best of each and its ratio to the bare interpreter, in wall time and CPU time. Fails
when a command fails, or when the median wall time is over the limit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

TARGET_SECONDS = 0.4
SEED_CONFIG = Path(__file__).parents[1] / "tests" / "data" / "seed.yaml"


def commands(config: Path) -> dict[str, Sequence[str]]:
    """Return what is timed, by the name it is shown under."""
    return {
        "python -c pass": (sys.executable, "-c", "pass"),
        "import yaml, attrs, pluggy": (sys.executable, "-c", "import yaml, attrs, pluggy"),
        "automodel --help": (sys.executable, "-m", "automodel_core", "--help"),
        "config validate": (sys.executable, "-m", "automodel_core", "config", "validate", str(config)),
    }


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Return the wall time and the CPU time of one run of ``command``; raise when it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"error: {' '.join(command)} exited with {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--config", type=Path, default=SEED_CONFIG)
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="fail when the median is over this")
    arguments = parser.parse_args()

    timings: dict[str, list[tuple[float, float]]] = {name: [] for name in commands(arguments.config)}
    for run in range(arguments.runs + 1):
        for name, command in commands(arguments.config).items():  # Interleaved, so that a busy machine slows all.
            found = timed(command)
            if run:  # The first run writes the bytecode.
                timings[name].append(found)
    wall = {name: statistics.median(seconds for seconds, _ in found) for name, found in timings.items()}
    cpu = {name: statistics.median(seconds for _, seconds in found) for name, found in timings.items()}
    bare = "python -c pass"
    print(f"{'':28} {'wall median':>12} {'best':>8} {'x bare':>8} {'CPU median':>12} {'x bare':>8}")
    for name, found in timings.items():
        best = min(seconds for seconds, _ in found)
        print(
            f"{name:28} {wall[name]:10.3f} s {best:6.3f} s {wall[name] / wall[bare]:8.1f} "
            f"{cpu[name]:10.3f} s {cpu[name] / cpu[bare]:8.1f}"
        )
    print(f"target for config validate   {TARGET_SECONDS:.1f} s, {arguments.runs} runs, load {os.getloadavg()[0]:.1f}")
    return 1 if arguments.limit is not None and wall["config validate"] > arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
