"""The product beside its peers: the same model, rows, order, optimizer and clipping, one thread, interleaved runs.

    python benchmarks/peers.py -w w1 w4 --install [--rounds 3] [--steps 12] [--peers raw:hf automodel ...]

Peers: a loop written by hand over transformers' model (raw:hf, for LoRA under peft) and over a model written by hand
too (raw:own), transformers.Trainer, TRL, torchtune, and the product. Each run is a process of its own; a round runs
every peer once, in an order that turns with the round. CPU time is used because it stays meaningful when other jobs
share the machine. Data, models and the peers' environments lie below BENCH_HOME (.bench).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peers.data import ensure_data
from peers.meter import WARM_UP
from peers.roster import ENVIRONMENTS, PEERS, Peer, install
from peers.table import table
from peers.workloads import MAX_STEPS, QUIET, WORKLOADS

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def run_once(peer: Peer, workload: str, steps: int) -> dict[str, Any]:
    """Run ``peer`` in a process of its own and return its result; a failure ends the comparison."""
    environment = {**os.environ, **QUIET, **ONE_THREAD, "PYTHONPATH": str(Path(__file__).parent)}
    command = peer.command(workload, steps)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{peer.name} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(peers: Sequence[Peer], workload: str, rounds: int, steps: int) -> dict[str, list[dict[str, Any]]]:
    """Return the results of every peer, round by round."""
    results: dict[str, list[dict[str, Any]]] = {peer.name: [] for peer in peers}
    for number in range(rounds):
        turn = number % len(peers)
        for peer in (*peers[turn:], *peers[:turn]):
            result = run_once(peer, workload, steps)
            results[peer.name].append(result)
            speed, first = result["tokens_per_cpu_s"], result["first_step_cpu_s"]
            print(f"  round {number + 1} {peer.name}: {speed:.0f} tokens/CPU-s, {first:.2f} s", file=sys.stderr)
    return results


def present(names: Sequence[str], workload: str) -> list[Peer]:
    """Return the peers that can run here, and say which cannot."""
    found = []
    for peer in (PEERS[name] for name in names):
        reason = peer.missing(WORKLOADS[workload])
        if reason is None:
            found.append(peer)
        else:
            print(f"skipped {peer.name}: {reason}")
    return found


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-w", "--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS)
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=PEERS, help="the first is the base")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=12, help=f"{WARM_UP + 1} to {MAX_STEPS}")
    parser.add_argument("--install", action="store_true", help="make the environments of the peers first")
    found = parser.parse_args()
    if not WARM_UP < found.steps <= MAX_STEPS or found.rounds < 1:
        parser.error(f"--steps must lie between {WARM_UP + 1} and {MAX_STEPS}, --rounds be at least 1")
    return found


def main() -> None:
    """Install what is asked for, make the data, and print a table for each workload."""
    asked = arguments()
    os.environ.update(QUIET)
    if asked.install:
        for environment in {PEERS[name].environment for name in asked.peers} & set(ENVIRONMENTS):
            install(environment)
    ensure_data()
    for workload in asked.workloads:
        print(f"\n{WORKLOADS[workload].title}; {asked.rounds} rounds of {asked.steps} steps, one thread")
        peers = present(asked.peers, workload)
        if peers:
            print(f"\n{table(compare(peers, workload, asked.rounds, asked.steps))}", flush=True)


if __name__ == "__main__":
    main()
