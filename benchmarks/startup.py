"""CPU seconds (user and system) of ``automodel --help``, against a bare interpreter.

    python benchmarks/startup.py [--runs N] [--limit SECONDS]

Fails when the command fails, imports something heavy, or its median is over the limit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence

HEAVY = ("cattrs", "numpy", "torch", "transformers", "yaml")
TARGET_SECONDS = 0.12
HELP = (sys.executable, "-m", "automodel_core", "--help")
BARE = (sys.executable, "-c", "pass")


def cpu_seconds(command: Sequence[str]) -> float:
    """Return the CPU time of one run of ``command``; raise when it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"error: {' '.join(command)} exited with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def heavy_imports() -> list[str]:
    """Return which heavy modules ``automodel --help`` imports."""
    program = (
        "import sys; from automodel_core.cli import main; main(['--help']);"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stderr.split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="fail when the median is over this")
    arguments = parser.parse_args()

    imported = heavy_imports()
    cpu_seconds(HELP)  # The first run writes the bytecode.
    helps, bares = [], []
    for _ in range(arguments.runs):  # Interleaved, so that a busy machine slows both.
        helps.append(cpu_seconds(HELP))
        bares.append(cpu_seconds(BARE))
    median = statistics.median(helps)
    print(f"automodel --help    median {median:.3f} s   best {min(helps):.3f} s   target {TARGET_SECONDS:.2f} s")
    print(f"python -c pass      median {statistics.median(bares):.3f} s   best {min(bares):.3f} s")
    print(f"heavy imports       {', '.join(imported) or 'none'}")
    return 1 if imported or (arguments.limit is not None and median > arguments.limit) else 0


if __name__ == "__main__":
    sys.exit(main())
