"""Samples, a small real run, and a terminal whose rows can be read."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import attrs
import pytest
import yaml
from tiny import llama_config, make_model, write_squad

from automodel_core.observability.samples import MetricsSample


@pytest.fixture(scope="session")
def tiny_files(tmp_path_factory):
    """A model of thirty thousand parameters and a SQuAD file."""
    directory = tmp_path_factory.mktemp("watched")
    config = llama_config(num_hidden_layers=1)
    return make_model(directory / "model", config), write_squad(directory / "squad.json", 40)


@pytest.fixture
def watched_config(tiny_files, tmp_path):
    """A complete config of six steps with two validations, as a Python mapping."""
    model, squad = map(str, tiny_files)
    dataset = {"_target_": "SquadDataset", "path": squad, "tokenizer_name_or_path": model, "max_seq_length": 64}
    return {
        "model": {"_target_": "NeMoAutoModelForCausalLM.from_pretrained", "name_or_path": model},
        "dataset": dataset,
        "validation_dataset": {"split": "validation"},
        "dataloader": {"batch_size": 2},
        "step_scheduler": {"max_steps": 6, "val_check_interval": 3, "log_interval": 2},
        "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-3},
        "checkpoint": {"directory": str(tmp_path / "run")},
    }


@pytest.fixture
def sample():
    """Return a function that makes the sample of a step."""

    def make(step: int, loss: float = 2.0, **changes) -> MetricsSample:
        named = {"epoch": 0, "grad_norm": 1.0, "lr": 1e-4, "mem": 1.5, "tps": 1234.0, "mfu": None}
        return MetricsSample(step=step, loss=loss, **{**named, **changes})

    return make


class Screen:
    """The rows that a terminal shows after what was written to it; unknown control sequences are refused."""

    def __init__(self) -> None:
        self.rows = [""]
        self._column = 0

    def feed(self, text: str) -> None:
        for part in re.split(r"(\x1b\[[0-9;?]*[A-Za-z]|[\r\n])", text):
            if part == "\n":
                self.rows.append("")
                self._column = 0
            elif part == "\r":
                self._column = 0
            elif part.endswith("K") and part.startswith("\x1b"):
                self.rows[-1] = self.rows[-1][: self._column]
            elif part.startswith("\x1b"):
                assert part.endswith("m"), f"unexpected control sequence {part!r}"
            else:
                row = self.rows[-1].ljust(self._column)
                self.rows[-1] = row[: self._column] + part + row[self._column + len(part) :]
                self._column += len(part)


@attrs.frozen
class TerminalRun:
    """What a command wrote to a terminal, how it ended, and how long it took."""

    output: str
    exit_code: int
    seconds: float

    @property
    def rows(self) -> list[str]:
        screen = Screen()
        screen.feed(self.output)
        return screen.rows

    @property
    def drawings(self) -> list[str]:
        """Every status line that was drawn, without colours."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.output)
        return re.findall(r"\r\x1b\[K(step [^\r\n]*)\r", plain)


@pytest.fixture
def run_in_terminal(watched_config, tmp_path):
    """Run ``automodel finetune llm`` with stdout and stderr on a terminal of its own."""

    def run(plugin: str = "", *, columns: int = 100, columns_later: int | None = None, **environment: str):
        (tmp_path / "cfg.yaml").write_text(yaml.safe_dump(watched_config), encoding="utf-8")
        (tmp_path / "hooks.py").write_text(plugin or QUIET, encoding="utf-8")
        command = [sys.executable, "-m", "automodel_core", "finetune", "llm", "-c", "cfg.yaml", "--plugin", "hooks.py"]
        base = {**os.environ, "TERM": "xterm-256color", "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}
        base.pop("NO_COLOR", None)
        ours, theirs = pty.openpty()
        _set_columns(ours, columns)
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=tmp_path, env=base | environment, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        output = _read_until_closed(ours, process, columns_later)
        return TerminalRun(output.replace("\r\n", "\n"), process.wait(timeout=60), time.monotonic() - started)

    return run


QUIET = """
import automodel_core as am


class Quiet:
    @am.hookimpl
    def run_started(self, run):
        pass


plugins = [Quiet()]
"""


def _set_columns(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))


def _read_until_closed(terminal: int, process: subprocess.Popen, columns_later: int | None) -> str:
    output = b""
    while True:
        ready, _, _ = select.select([terminal], [], [], 120)
        assert ready, "the command hangs"
        try:
            output += os.read(terminal, 65536)
        except OSError:  # Linux says so when the last one that held the terminal is gone.
            os.close(terminal)
            return output.decode()
        if columns_later is not None and b"\x1b[Kstep " in output:
            _set_columns(terminal, columns_later)
            columns_later = None


@pytest.fixture
def metrics(watched_config):
    """Return the path of the record of a run of ``watched_config``."""
    return Path(watched_config["checkpoint"]["directory"]) / "metrics.jsonl"
