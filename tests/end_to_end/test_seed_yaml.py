"""The first seed's YAML, whole and verbatim, trains with overrides for nothing but what is not there."""

import pytest
import torch
from tiny import SEED_YAML
from transformers import AutoModelForCausalLM

LOGGED = ["step", "epoch", "loss", "grad_norm", "lr", "mem", "tps", "mfu"]


@pytest.mark.parametrize("family", ["llama", "nemotron_h"])
def test_it_trains_validates_checkpoints_and_stops(family, request, squad, tmp_path, monkeypatch, automodel, records):
    model = request.getfixturevalue(family)
    monkeypatch.chdir(tmp_path)
    code, _, err = automodel(
        "finetune", "llm", "-c", SEED_YAML,
        "--model.name_or_path", model,
        "--dataset.path", squad,
        "--dataset.tokenizer_name_or_path", model,
        "--step_scheduler.max_steps", 3,
    )  # fmt: skip
    assert code == 0, err
    assert "world size 1: nothing to shard" in err
    assert "beyond" in err or "warning" in err  # warm-up and intervals lie beyond three steps
    steps = records(tmp_path / "checkpoints", "step")
    assert [s["step"] for s in steps] == [1, 2, 3]
    assert all(list(s)[1:9] == LOGGED for s in steps)
    assert all(s["loss"] > 0 and s["grad_norm"] <= 1.0 and s["tps"] > 0 and s["mem"] > 0 for s in steps)
    assert [s["lr"] for s in steps] == pytest.approx([2e-5 * k / 50 for k in (1, 2, 3)])
    (validation,) = records(tmp_path / "checkpoints", "validation")
    assert validation["step"] == 3
    trained = AutoModelForCausalLM.from_pretrained(tmp_path / "checkpoints" / "step-3", dtype=torch.float32)
    before = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    moved = [not torch.equal(a, b) for a, b in zip(trained.parameters(), before.parameters(), strict=True)]
    assert any(moved)
