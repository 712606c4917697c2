"""The peers: which module runs each, in which environment, and what that environment holds."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from peers.workloads import HOME, Workload

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"
TORCH = "torch==2.13.0"

ENVIRONMENTS = {
    "trl": (TORCH, "transformers==5.24.0", "accelerate==1.15.0", "peft==0.21.2", "trl==1.16.0", "datasets==5.2.0"),
    "torchtune": (TORCH, "torchtune==0.6.1", "torchao==0.15.0"),  # torchao 0.12 and 0.18 break torchtune's import
}
"""Requirements of the environments that are made for peers; the others run in this interpreter's own."""


@dataclass(frozen=True)
class Peer:
    """``needs`` are modules that the interpreter's own environment must have, ``lora_needs`` those for LoRA."""

    name: str
    module: str
    arguments: tuple[str, ...] = ()
    environment: str | None = None
    needs: tuple[str, ...] = ()
    lora_needs: tuple[str, ...] = ()

    @property
    def python(self) -> Path:
        """The interpreter that runs the peer."""
        return Path(sys.executable) if self.environment is None else _interpreter(self.environment)

    def missing(self, workload: Workload) -> str | None:
        """Return why the peer cannot run here, or ``None``."""
        if self.environment is not None:
            return None if self.python.is_file() else f"no environment `{self.environment}`: add --install"
        absent = [m for m in self.needs + self.lora_needs * workload.lora if find_spec(m) is None]
        return f"not installed: {', '.join(absent)}" if absent else None

    def command(self, workload: str, steps: int) -> list[str]:
        """Return the command of one run."""
        return [str(self.python), "-m", f"peers.{self.module}", workload, str(steps), *self.arguments]


PEERS = {
    peer.name: peer
    for peer in (
        Peer("raw:hf", "run_raw", ("--variant", "hf"), needs=("transformers",), lora_needs=("peft",)),
        Peer("raw:own", "run_raw", ("--variant", "own"), needs=("safetensors",)),
        Peer("trainer", "run_trainer", needs=("transformers", "accelerate"), lora_needs=("peft",)),
        Peer("trl", "run_trl", environment="trl"),
        Peer("torchtune", "run_torchtune", environment="torchtune"),
        Peer("automodel", "run_product", needs=("automodel_core", "automodel_llm", "transformers")),
    )
}
"""By name; the first is the base of the ratios: a plain loop over the same model class."""


def _interpreter(environment: str) -> Path:
    return HOME / "environments" / environment / "bin" / "python"


def install(environment: str) -> None:
    """Make ``environment`` with its pinned packages, unless it is there already."""
    python = _interpreter(environment)
    finished = python.parents[1] / "installed"
    if finished.is_file():
        return
    print(f"installing {', '.join(ENVIRONMENTS[environment])} for {environment}", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q", "-c", str(CONSTRAINTS)]
    subprocess.run([*pip, *ENVIRONMENTS[environment]], check=True)
    finished.touch()
