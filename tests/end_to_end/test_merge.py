"""A merged LoRA checkpoint is a plain model that answers as base and adapter together."""

import shutil
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from tiny import llama_config, make_model
from transformers import AutoModelForCausalLM, AutoTokenizer

import automodel_core as am


def logits(model, top=300):
    ids = torch.arange(2, 14)[None] + top - 300
    with torch.no_grad():
        return model.eval()(input_ids=ids).logits


@pytest.fixture
def lora_run(small_config):
    small_config["peft"] = {"rank": 4, "alpha": 32}
    small_config["optimizer"]["lr"] = 1e-2
    am.run(small_config, route="finetune llm")
    return Path(small_config["checkpoint"]["directory"])


def test_merged_logits_equal_those_of_base_and_adapter(lora_run, llama, tmp_path, automodel):
    code, out, err = automodel("checkpoint", "merge", lora_run, tmp_path / "merged")
    assert code == 0, err
    assert Path(out.strip()) == tmp_path / "merged"
    base = AutoModelForCausalLM.from_pretrained(llama, dtype=torch.float32)
    untouched = logits(base)
    adapted = logits(PeftModel.from_pretrained(base, lora_run / "step-4"))
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "merged", dtype=torch.float32)
    assert torch.allclose(logits(merged), adapted, atol=1e-5)
    assert not torch.allclose(logits(merged), untouched, atol=1e-3)
    assert AutoTokenizer.from_pretrained(tmp_path / "merged")("How")["input_ids"]


def test_tokens_that_were_added_to_the_base_stay(small_config, tmp_path, automodel):
    """Three tokens more than the architecture's vocabulary, embedded, trained beside, merged."""
    directory = make_model(tmp_path / "base", llama_config(tie_word_embeddings=False))
    tokenizer = AutoTokenizer.from_pretrained(directory)
    tokenizer.add_tokens(["<a>", "<b>", "<c>"])
    model = AutoModelForCausalLM.from_pretrained(directory)
    model.resize_token_embeddings(303, mean_resizing=False)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    small_config["model"]["name_or_path"] = small_config["dataset"]["tokenizer_name_or_path"] = str(directory)
    small_config["peft"] = {"rank": 4}
    am.run(small_config, route="finetune llm")
    home = Path(small_config["checkpoint"]["directory"])
    code, _, err = automodel("checkpoint", "merge", home, tmp_path / "merged")
    assert code == 0, err
    base = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    adapted = logits(PeftModel.from_pretrained(base, home / "step-4"), top=303)
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "merged", dtype=torch.float32)
    assert merged.config.vocab_size == 303
    assert torch.allclose(logits(merged, top=303), adapted, atol=1e-5)
    assert "<b>" in AutoTokenizer.from_pretrained(tmp_path / "merged").get_vocab()


def test_a_base_that_has_moved_is_named(lora_run, llama, tmp_path, automodel):
    moved = tmp_path / "moved"
    moved.symlink_to(llama)
    code, _, err = automodel("checkpoint", "merge", lora_run / "step-4", tmp_path / "merged", "--base", moved)
    assert code == 0, err


def test_what_cannot_be_merged_is_said(lora_run, small_config, tmp_path, automodel):
    (tmp_path / "there").mkdir()
    code, _, err = automodel("checkpoint", "merge", lora_run, tmp_path / "there")
    assert (code, "is there already" in err) == (2, True)
    code, _, err = automodel("checkpoint", "merge", tmp_path / "absent", tmp_path / "merged")
    assert (code, "no checkpoint" in err) == (2, True)
    del small_config["peft"]
    small_config["checkpoint"]["directory"] += "-full"
    am.run(small_config, route="finetune llm")
    code, _, err = automodel("checkpoint", "merge", small_config["checkpoint"]["directory"], tmp_path / "merged")
    assert (code, "no adapters" in err) == (2, True)
    assert not (tmp_path / "merged").exists()


def test_adapters_on_other_weights_than_they_were_trained_on_are_refused(small_config, llama, tmp_path, automodel):
    base = tmp_path / "base"
    shutil.copytree(llama, base)
    small_config["model"]["name_or_path"] = str(base)
    small_config["peft"] = {"rank": 4}
    am.run(small_config, route="finetune llm")
    run = Path(small_config["checkpoint"]["directory"])
    weights = load_file(base / "model.safetensors")
    save_file({name: tensor * 1.5 for name, tensor in weights.items()}, base / "model.safetensors", {"format": "pt"})

    steps = {**small_config["step_scheduler"], "max_steps": 8}
    resumed = {**small_config, "restore_from": {"path": str(run)}, "step_scheduler": steps}
    with pytest.raises(am.InputError, match="were trained on other weights") as error:
        am.run(resumed, route="finetune llm")
    assert [problem.code for problem in error.value.diagnostics] == ["AM508"]
    code, _, err = automodel("checkpoint", "merge", run, tmp_path / "merged")
    assert code == 2
    assert "[AM508]" in err
    assert not (tmp_path / "merged").exists()
    resumed["restore_from"]["allow_changes"] = True
    assert am.run(resumed, route="finetune llm").run.scheduler.step == 8


def test_a_base_that_has_moved_is_the_same_base(small_config, llama, tmp_path, automodel):
    base, moved = tmp_path / "base", tmp_path / "moved"
    shutil.copytree(llama, base)
    small_config["model"]["name_or_path"] = str(base)
    small_config["peft"] = {"rank": 4}
    am.run(small_config, route="finetune llm")
    base.rename(moved)
    run = small_config["checkpoint"]["directory"]
    code, _, err = automodel("checkpoint", "merge", run, tmp_path / "merged", "--base", moved)
    assert code == 0, err
