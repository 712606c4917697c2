"""A tiny Llama and NemotronH, a SQuAD file, and a way to run the command as a user would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny import llama_config, make_model, nemotron_h_config, write_squad

from automodel_core.cache import CACHE_VARIABLE


@pytest.fixture(autouse=True)
def own_cache(request, tmp_path_factory, monkeypatch):
    """A cache of the test's own; tests marked ``slow`` fetch real assets once, into the user's."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("llama"), llama_config())


@pytest.fixture(scope="session")
def nemotron_h(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("nemotron_h"), nemotron_h_config())


@pytest.fixture(scope="session")
def squad(tmp_path_factory):
    return write_squad(tmp_path_factory.mktemp("squad") / "squad.json", 40)


@pytest.fixture
def automodel(capfd):
    """Run the command line in this process; returns (exit code, stdout, stderr)."""
    from automodel_core.cli import main

    def run(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def small_config(llama, squad, tmp_path):
    """A complete config of a small run, as a Python mapping."""
    return {
        "model": {"_target_": "NeMoAutoModelForCausalLM.from_pretrained", "name_or_path": str(llama)},
        "dataset": {
            "_target_": "SquadDataset",
            "path": str(squad),
            "tokenizer_name_or_path": str(llama),
            "max_seq_length": 64,
        },
        "dataloader": {"batch_size": 2},
        "step_scheduler": {"max_steps": 4, "grad_accumulation_steps": 2},
        "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-3},
        "checkpoint": {"directory": str(tmp_path / "run")},
    }


@pytest.fixture
def records():
    """Read the metrics file of a run: the records of one kind."""

    def read(directory: Path, event: str) -> list[dict]:
        lines = (Path(directory) / "metrics.jsonl").read_text().splitlines()
        return [record for record in map(json.loads, lines) if record["event"] == event]

    return read
