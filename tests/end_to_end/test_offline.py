"""With local paths nothing asks the network, from training to generating: every socket is blocked."""

import json
import socket

import pytest


@pytest.fixture
def no_network(monkeypatch):
    asked = []

    def refuse(*arguments, **_):
        asked.append(arguments)
        raise OSError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    return asked


@pytest.mark.parametrize("peft", [None, {"rank": 4}], ids=["full", "lora"])
def test_a_whole_run_and_its_resumption_ask_no_network(small_config, tmp_path, automodel, no_network, peft):
    small_config["peft"] = peft
    small_config["validation_dataset"] = {"split": "validation"}
    small_config["step_scheduler"] |= {"val_check_interval": 2, "checkpoint_interval": 2}
    path = tmp_path / "cfg.yaml"
    path.write_text(json.dumps(small_config))
    runs = [
        ("finetune", "llm", "-c", path, "--step_scheduler.max_steps", 2),
        ("finetune", "llm", "-c", path, "--restore_from.path", "latest"),
        ("evaluate", "llm", "-c", path, "--restore_from.path", "latest"),
        ("generate", "llm", "-c", path, "--restore_from.path", "latest", "--prompt", "How"),
        ("data", "preview", "-c", path),
        ("config", "validate", path, "--restore_from.path", "latest"),
        ("config", "validate", "--deep", path, "--restore_from.path", "latest"),
        ("doctor",),
    ]
    for arguments in runs:
        code, _, err = automodel(*arguments)
        assert code == 0, (arguments, err)
    if peft is not None:
        code, _, err = automodel("checkpoint", "merge", tmp_path / "run", tmp_path / "merged")
        assert code == 0, err
    assert no_network == []


def test_a_path_that_is_not_there_is_an_error_and_not_a_question_to_the_hub(
    small_config, tmp_path, automodel, no_network
):
    small_config["model"]["name_or_path"] = str(tmp_path / "absent")
    path = tmp_path / "cfg.yaml"
    path.write_text(json.dumps(small_config))
    code, _, err = automodel("finetune", "llm", "-c", path)
    assert code == 2
    assert "absent" in err
    assert no_network == []
