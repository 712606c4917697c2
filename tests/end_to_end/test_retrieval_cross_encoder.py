"""A cross-encoder from a config that names its recipe to a directory that sentence-transformers reads."""

import copy
import json

import pytest
import torch
from retrieval_made import make_encoder, pairs, write_rows
from safetensors.torch import load_file

import automodel_core as am

PAIRS = [("kaban lodor", "lodor mifel kaban"), ("rugim", "soban"), ("teban sodor", "kafel " * 9)]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("bert"), dropout=0.1)


@pytest.fixture
def config(encoder, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_rows(data / "train.jsonl", pairs(48))
    write_rows(data / "validation.jsonl", pairs(24, seed=1))
    return {
        "recipe": "TrainCrossEncoderRecipe",
        "model": {"_target_": "NeMoAutoModelCrossEncoder.from_pretrained", "name_or_path": str(encoder)},
        "dataset": {"_target_": "RetrievalDataset", "path": str(data)},
        "validation_dataset": {"split": "validation"},
        "retrieval": {"document_max_length": 32},
        "dataloader": {"batch_size": 8},
        "step_scheduler": {"max_steps": 4, "val_check_interval": 4},
        "optimizer": {"_target_": "torch.optim.AdamW", "lr": 3e-3, "weight_decay": 0.0},
        "checkpoint": {"directory": str(tmp_path / "run")},
    }


def run(config):
    return am.run(config).run


def logits_of(state):
    encoded = state.processor([q for q, _ in PAIRS], [d for _, d in PAIRS], padding=True, return_tensors="pt")
    with torch.no_grad():
        return state.model.eval()(**encoded).logits.squeeze(-1)


def test_the_command_honours_the_recipe_of_the_config(config, tmp_path, automodel, records):
    (tmp_path / "cfg.yaml").write_text(json.dumps(config))
    code, _, err = automodel("finetune", "retrieval", "-c", tmp_path / "cfg.yaml")
    assert code == 0, err
    assert "BertForSequenceClassification" in (tmp_path / "run/step-4/config.json").read_text()
    code, out, err = automodel(
        "evaluate", "retrieval", "-c", tmp_path / "cfg.yaml", "--json", "--restore_from.path", tmp_path / "run/step-4"
    )
    assert code == 0, err
    (last,) = records(tmp_path / "run", "validation")
    found = json.loads(out.splitlines()[-1])
    assert all(found[name] == pytest.approx(last[name], abs=1e-6) for name in ("loss", "mrr", "recall@1"))


def test_sentence_transformers_reads_the_checkpoint_and_gives_the_same_scores(config, tmp_path):
    from sentence_transformers import CrossEncoder

    state = run(config)
    peer = CrossEncoder(str(tmp_path / "run/step-4"), device="cpu")
    scores = torch.tensor(peer.predict(PAIRS, activation_fn=torch.nn.Identity()))
    torch.testing.assert_close(scores, logits_of(state), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(torch.tensor(peer.predict(PAIRS)), logits_of(state).sigmoid(), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("loss", ["PointwiseBCE", "GroupContrastive"])
def test_either_loss_learns_to_rank_the_positive_first(config, tmp_path, records, loss):
    config["loss_fn"] = {"_target_": loss}
    config["step_scheduler"] |= {"max_steps": 60, "val_check_interval": 30}
    run(config)
    first, last = records(tmp_path / "run", "validation")
    assert last["targets"] == (72 if loss == "PointwiseBCE" else 24)
    assert last["loss"] < first["loss"] or last["mrr"] >= first["mrr"]
    assert last["mrr"] > 0.75  # by chance (1 + 1/2 + 1/3) / 3


CASES = {
    "full": {},
    "lora": {"peft": {"rank": 4, "dropout": 0.1}},
    "random negatives": {"dataset": {"random_negatives": 2}},
    "accumulated": {"dataloader": {"batch_size": 4}, "step_scheduler": {"grad_accumulation_steps": 2}},
}


@pytest.mark.parametrize("case", CASES)
def test_a_resumed_run_is_bit_equal_to_one_that_never_stopped(config, tmp_path, case):
    for section, values in CASES[case].items():
        config[section] = {**config.get(section, {}), **values}
    config["step_scheduler"] |= {"max_steps": 8, "checkpoint_interval": 4}
    run(copy.deepcopy(config))
    config["restore_from"] = {"path": str(tmp_path / "run/step-4")}
    config["checkpoint"]["directory"] = str(tmp_path / "resumed")
    run(config)
    one, other = tmp_path / "run/step-8", tmp_path / "resumed/step-8"
    for name in sorted(p.relative_to(one) for p in one.rglob("*.safetensors")):
        first, second = load_file(one / name), load_file(other / name)
        assert first.keys() == second.keys()
        assert all(torch.equal(first[key], second[key]) for key in first), name


def test_peft_reads_adapters_and_head(config, encoder, tmp_path):
    from peft import PeftModel
    from transformers import AutoModelForSequenceClassification

    config["peft"] = {"rank": 4}
    state = run(config)
    base = AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=1)
    peer = PeftModel.from_pretrained(base, tmp_path / "run/step-4").eval()
    encoded = state.processor([q for q, _ in PAIRS], [d for _, d in PAIRS], padding=True, return_tensors="pt")
    with torch.no_grad():
        torch.testing.assert_close(peer(**encoded).logits.squeeze(-1), logits_of(state), atol=1e-5, rtol=1e-4)


def test_accumulated_gradients_are_those_of_the_batch(config, tmp_path):
    weights = []
    for size, times in ((8, 1), (2, 4)):
        config["dataloader"]["batch_size"] = size
        config["step_scheduler"] |= {"grad_accumulation_steps": times, "max_steps": 1, "val_check_interval": None}
        config["model"] |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        config["optimizer"] = {"_target_": "torch.optim.SGD", "lr": 1.0}
        config["checkpoint"]["directory"] = str(tmp_path / f"run{size}")
        run(config)
        weights.append(load_file(tmp_path / f"run{size}/step-1/model.safetensors"))
    for name in weights[0]:
        torch.testing.assert_close(weights[0][name], weights[1][name], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("loss", ["PointwiseBCE", "GroupContrastive"])
def test_pairs_that_are_all_right_are_refused(config, tmp_path, loss):
    config["dataset"] = {**config["dataset"], "path": str(write_rows(tmp_path / "right.jsonl", pairs(8, negatives=0)))}
    config["loss_fn"] = {"_target_": loss}
    config.pop("validation_dataset", None)
    with pytest.raises(am.InputError, match="nothing to learn"):
        am.run(config, route="finetune retrieval")
