"""Asking a model: a plain directory, a full checkpoint, an adapter."""

import json
import math
import re
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer

import automodel_core as am


@pytest.fixture
def written(small_config, tmp_path):
    def write(**changes):
        path = tmp_path / "cfg.yaml"
        path.write_text(json.dumps({**small_config, **changes}))
        return path

    return write


def plain_loss(directory, small_config):
    """The loss on the held-out rows, by plain transformers, one sample at a time."""
    from automodel_llm.data.squad import SquadDataset

    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).eval()
    arguments = {k: v for k, v in small_config["dataset"].items() if k != "_target_"}
    dataset = SquadDataset(**arguments, split="validation")
    total, count = 0.0, 0
    for i in range(len(dataset)):
        labels = torch.tensor(list(dataset[i].labels))
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([list(dataset[i].input_ids)])).logits[0]
        total += float(F.cross_entropy(logits, labels, reduction="sum"))
        count += int((labels != -100).sum())
    return total / count, count


def test_the_loss_and_perplexity_of_a_directory_are_those_of_plain_transformers(
    small_config, written, llama, automodel
):
    path = written(validation_dataset={"split": "validation"})
    code, out, err = automodel("evaluate", "llm", "-c", path, "--json")
    assert code == 0, err
    result = json.loads(out)
    loss, count = plain_loss(llama, small_config)
    assert result["loss"] == pytest.approx(loss, rel=1e-5)
    assert result["targets"] == count
    assert result["perplexity"] == pytest.approx(math.exp(loss), rel=1e-5)
    assert result["compared"] == result["samples"] == 4


def test_a_checkpoint_is_evaluated_with_its_own_weights(small_config, written, automodel):
    am.run(small_config, route="finetune llm")
    home = Path(small_config["checkpoint"]["directory"])
    path = written(validation_dataset={"split": "validation"})
    code, out, err = automodel("evaluate", "llm", "-c", path, "--restore_from.path", home)
    assert code == 0, err
    loss, _ = plain_loss(home / "step-4", small_config)
    assert float(re.search(r"loss=([\d.]+)", out)[1]) == pytest.approx(loss, abs=1e-4)


def test_exact_match_is_one_for_a_model_that_learned_its_answers(small_config, written, records, automodel):
    """Overfit the tiny model on four rows: it answers them word for word; the untrained one answers none."""
    small_config["dataset"] |= {"split": "all", "limit": 4}
    small_config["step_scheduler"] = {"max_steps": 60, "grad_accumulation_steps": 1}
    small_config["dataloader"]["batch_size"] = 4
    small_config["optimizer"]["lr"] = 1e-2
    am.run(small_config, route="finetune llm")
    assert records(small_config["checkpoint"]["directory"], "step")[-1]["loss"] < 0.05
    path = written()
    _, before, _ = automodel("evaluate", "llm", "-c", path, "--json")
    home = small_config["checkpoint"]["directory"]
    _, after, _ = automodel("evaluate", "llm", "-c", path, "--json", "--restore_from.path", home)
    assert json.loads(before)["exact_match"] == 0.0
    assert json.loads(after)["exact_match"] == 1.0


def test_an_adapter_generates_what_peft_generates(small_config, written, llama, automodel):
    from peft import PeftModel

    small_config["peft"] = {"rank": 4, "alpha": 64}
    small_config["optimizer"]["lr"] = 1e-2
    am.run(small_config, route="finetune llm")
    home = Path(small_config["checkpoint"]["directory"])
    prompt = "How is the - [river]: number?"
    code, out, err = automodel(
        "generate", "llm", "-c", written(), "--prompt", prompt, "--restore_from.path", home,
        "--generation.max_new_tokens", 8,
    )  # fmt: skip
    assert code == 0, err
    tokenizer = AutoTokenizer.from_pretrained(llama)
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(llama, dtype=torch.float32), home / "step-4")
    ids = torch.tensor([tokenizer(prompt)["input_ids"]])
    expected = model.generate(input_ids=ids, max_new_tokens=8, do_sample=False)[0, ids.shape[1] :]
    assert out.strip() == tokenizer.decode(expected, skip_special_tokens=True).strip()


def test_a_prompt_is_text_whatever_it_looks_like(written, automodel):
    for prompt in ("-x", "[1, 2", "a: b", "null", "${env:NOT_SET_ANYWHERE}"):
        code, _, err = automodel("generate", "llm", "-c", written(), "--prompt", prompt)
        assert code == 0, err


def test_without_a_prompt_or_data_the_way_to_give_one_is_said(small_config, written, automodel):
    code, _, err = automodel("generate", "llm", "-c", written())
    assert (code, "--prompt" in err) == (2, True)
    del small_config["dataset"]
    code, _, err = automodel("evaluate", "llm", "-c", written())
    assert (code, "no data to evaluate on" in err) == (2, True)


def test_help_shows_what_a_route_takes(automodel):
    _, out, _ = automodel("generate", "llm", "--help")
    assert "--prompt TEXT" in out
    assert "generation.prompt" in out
