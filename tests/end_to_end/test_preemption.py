"""A run that is told to stop saves after the step under way, and goes on as if nothing had been."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import automodel_core as am

SLOW = """
import os, signal, time
import automodel_core as am

@am.hookimpl(wrapper=True)
def {hook}({argument}):
    answer = yield
    with open(os.environ["MARK"], "a") as mark:
        mark.write("here\\n")
    time.sleep(0.3)
    return answer
"""


def start(config, tmp_path, hook, argument, *, new_group=False, **changes):
    """Start a run in a process of its own that dawdles in ``hook`` and marks that it is there."""
    path = tmp_path / "cfg.json.yaml"
    path.write_text(json.dumps({**config, **changes}))
    plugin = tmp_path / "slow.py"
    plugin.write_text(SLOW.format(hook=hook, argument=argument))
    mark = tmp_path / "mark"
    mark.unlink(missing_ok=True)
    command = [sys.executable, "-m", "automodel_core", "finetune", "llm", "-c", str(path), "--plugin", str(plugin)]
    environment = {**os.environ, "MARK": str(mark), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=new_group)
    deadline = time.time() + 120
    while not (mark.exists() and mark.read_text().count("here") >= 3):
        assert process.poll() is None, process.stderr.read()
        assert time.time() < deadline
        time.sleep(0.05)
    return process


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGINT"])
@pytest.mark.parametrize(("hook", "argument"), [("forward_backward", "run"), ("evaluate", "run")])
def test_a_signal_ends_the_run_resumable_and_resuming_is_bit_equal(
    small_config, records, tmp_path, name, hook, argument
):
    small_config["model"]["attention_dropout"] = 0.1
    small_config["validation_dataset"] = {"split": "validation"}
    small_config["step_scheduler"] = {"max_steps": 8, "val_check_interval": 2}
    home = Path(small_config["checkpoint"]["directory"])
    process = start(small_config, tmp_path, hook, argument)
    process.send_signal(signal.Signals[name])
    _, err = process.communicate(timeout=120)
    assert process.returncode == 75, err
    assert f"{name} came" in err
    assert "Traceback" not in err
    saved = home / (home / "latest").read_text().strip()
    stopped = int(saved.name.removeprefix("step-"))
    assert stopped < 8
    assert records(home, "run_finished")[-1]["outcome"] == "preempted"

    small_config["restore_from"] = {"path": str(home)}
    am.run(small_config, route="finetune llm")
    del small_config["restore_from"]
    small_config["checkpoint"]["directory"] = str(tmp_path / "straight")
    am.run(small_config, route="finetune llm")
    losses = [[s["loss"] for s in records(d, "step")] for d in (home, tmp_path / "straight")]
    assert losses[0] == losses[1]
    one, other = (load_file(d / "step-8" / "model.safetensors") for d in (home, tmp_path / "straight"))
    assert all(torch.equal(one[k], other[k]) for k in one)


def test_a_second_signal_ends_the_run_at_once(small_config, tmp_path):
    small_config["step_scheduler"] = {"max_steps": 50, "grad_accumulation_steps": 1}
    process = start(small_config, tmp_path, "forward_backward", "run")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGTERM


def test_without_a_preemption_signal_the_default_handler_stays(small_config, tmp_path):
    small_config["step_scheduler"] |= {"preemption_signal": None, "max_steps": 50}
    process = start(small_config, tmp_path, "forward_backward", "run")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGTERM


def test_handlers_come_back_after_a_run(small_config):
    before = signal.getsignal(signal.SIGTERM)
    am.run(small_config, route="finetune llm")
    assert signal.getsignal(signal.SIGTERM) == before


def test_an_unknown_signal_is_refused(small_config):
    small_config["step_scheduler"]["preemption_signal"] = "SIGTREM"
    with pytest.raises(am.InputError, match="name of a signal"):
        am.run(small_config, route="finetune llm")


def test_ctrl_c_on_a_terminal_saves_with_workers_as_well(small_config, tmp_path):
    """A terminal sends the interrupt to every process of the group, workers too; six-step epochs restart them often."""
    small_config["dataloader"]["num_workers"] = 2
    small_config["step_scheduler"] = {"max_steps": 500, "grad_accumulation_steps": 3}
    process = start(small_config, tmp_path, "forward_backward", "run", new_group=True)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 75, err
    assert "SIGINT came" in err
    assert "Traceback" not in err
    assert (tmp_path / "run" / "latest").exists()
