"""Runs whose configs are written in the names of another system, as published configs are."""

import io
import json
import random

import pytest
import torch
import yaml
from chat_templates import CHATML, make_chat_tokenizer
from safetensors.torch import load_file
from tiny import llama_config, make_model
from tiny_vlm import COLOURS, make_llava

NEMO = "nemo_automodel"
LLM = f"{NEMO}.components.datasets.llm"
LOADER = {
    "_target_": "torchdata.stateful_dataloader.StatefulDataLoader",
    "collate_fn": f"{NEMO}.components.datasets.utils.default_collater",
}
COMMON = {
    "dist_env": {"backend": "gloo", "timeout_minutes": 1},
    "rng": {"_target_": f"{NEMO}.components.training.rng.StatefulRNG", "seed": 3, "ranked": True},
    "distributed": {"strategy": "fsdp2", "dp_size": "none", "tp_size": 1, "cp_size": 1, "sequence_parallel": False},
}


@pytest.fixture
def run(automodel, tmp_path, records):
    """Run a config as a user would and return its losses and what was said."""

    def trained(domain, config, steps=3):
        schedule = {"local_batch_size": 2, "global_batch_size": 4, "max_steps": steps, "ckpt_every_steps": 100}
        checkpoint = {
            "enabled": True,
            "checkpoint_dir": str(tmp_path / "run"),
            "model_save_format": "safetensors",
            "save_consolidated": True,
        }
        whole = {**COMMON, "step_scheduler": schedule, "checkpoint": checkpoint, **config}
        (tmp_path / "theirs.yaml").write_text(yaml.safe_dump(whole))
        code, _, err = automodel("config", "validate", tmp_path / "theirs.yaml")
        assert code == 0, err
        code, _, err = automodel("finetune", domain, "-c", tmp_path / "theirs.yaml")
        assert code == 0, err
        return [step["loss"] for step in records(tmp_path / "run", "step")], err

    return trained


def causal_lm(directory):
    return {
        "_target_": f"{NEMO}.NeMoAutoModelForCausalLM.from_pretrained",
        "pretrained_model_name_or_path": str(directory),
        "torch_dtype": "torch.float32",
    }


def test_squad_with_lora(run, llama, squad, tmp_path):
    losses, _ = run(
        "llm",
        {
            "recipe": "TrainFinetuneRecipeForNextTokenPrediction",
            "model": {
                **causal_lm(llama),
                "backend": {"_target_": f"{NEMO}.components.models.common.BackendConfig", "attn": "sdpa"},
            },
            "distributed": {"_target_": f"{NEMO}.components.distributed.fsdp2.FSDP2Manager", "dp_size": "none"},
            "peft": {
                "_target_": f"{NEMO}.components._peft.lora.PeftConfig",
                "target_modules": "*_proj",
                "exclude_modules": ["*.up_proj"],
                "dim": 4,
                "alpha": 32,
                "use_triton": True,
            },
            "loss_fn": {"_target_": f"{NEMO}.components.loss.masked_ce.MaskedCrossEntropy"},
            "dataset": {"_target_": f"{LLM}.squad.make_squad_dataset", "dataset_name": str(squad), "split": "train"},
            "packed_sequence": {"packed_sequence_size": 0},
            "dataloader": {**LOADER, "shuffle": True},
            "validation_dataloader": LOADER,
            "optimizer": {"_target_": "torch.optim.Adam", "betas": [0.9, 0.999], "eps": "1e-8", "lr": 5e-2},
        },
        steps=10,
    )
    assert losses[-1] < losses[0]
    weights = load_file(tmp_path / "run" / "step-10" / "adapter_model.safetensors")
    adapted = {name.split(".")[-3] for name in weights}
    assert adapted == {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "down_proj"}


def test_hellaswag_with_fallbacks(run, llama, tmp_path):
    draw = random.Random(0)
    endings = ["is old.", "is bright.", "is slow.", "is rare."]
    rows = [{"ctx": f"The river {n}", "endings": endings, "label": str(draw.randrange(4))} for n in range(24)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    losses, err = run(
        "llm",
        {
            "model": causal_lm(llama),
            "loss_fn": {"_target_": f"{NEMO}.components.loss.linear_ce.FusedLinearCrossEntropy"},
            "dataset": {
                "_target_": f"{LLM}.hellaswag.HellaSwag",
                "path_or_dataset": str(tmp_path / "rows.jsonl"),
                "split": "train",
                "num_samples_limit": 20,
                "tokenizer": {
                    "_target_": "transformers.AutoTokenizer.from_pretrained",
                    "pretrained_model_name_or_path": str(llama),
                },
            },
            "dataloader": LOADER,
            "optimizer": {
                "_target_": "transformer_engine.pytorch.optimizers.fused_adam.FusedAdam",
                "lr": 1e-2,
                "adam_w_mode": True,
                "master_weights": True,
                "exp_avg_dtype": "torch.float32",
            },
            "lr_scheduler": {"lr_decay_style": "linear", "lr_warmup_steps": 1, "min_lr": 1e-4},
        },
    )
    assert all(0 < loss < 10 for loss in losses)
    assert err.count("[AM911]") == 2


def test_random_tokens_for_a_model_from_its_configuration(run, tmp_path):
    make_model(tmp_path / "shape", llama_config())
    losses, _ = run(
        "llm",
        {
            "seed": 5,
            "rng": None,
            "model": {
                "_target_": f"{NEMO}.NeMoAutoModelForCausalLM.from_config",
                "config": {
                    "_target_": "transformers.AutoConfig.from_pretrained",
                    "pretrained_model_name_or_path": str(tmp_path / "shape"),
                },
            },
            "dataset": {
                "_target_": f"{LLM}.mock_iterable_dataset.MockIterableDataset",
                "num_samples": 40,
                "seq_len": 32,
                "vocab_size": 300,
            },
            "dataloader": {"_target_": "torch.utils.data.DataLoader", "batch_size": None},
            "optimizer": {"_target_": "torch.optim.Adam", "lr": 1e-3},
        },
    )
    assert losses[0] == pytest.approx(torch.log(torch.tensor(300.0)).item(), rel=0.05)


def test_random_tokens_that_the_model_does_not_know_are_refused(automodel, llama, tmp_path):
    config = {
        "model": causal_lm(llama),
        "dataset": {"_target_": "MockDataset", "max_seq_length": 16},
        "optimizer": {"_target_": "AdamW"},
        "checkpoint": {"directory": str(tmp_path / "run")},
    }
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
    code, _, err = automodel("finetune", "llm", "-c", tmp_path / "c.yaml")
    assert code == 2
    assert "AM434" in err
    assert "vocab_size: 300" in err


def test_conversations(run, tmp_path):
    model = make_model(tmp_path / "model", llama_config(vocab_size=320), tokenizer=False)
    make_chat_tokenizer(model, CHATML)
    rows = [
        {"messages": [{"role": "user", "content": f"say {n}"}, {"role": "assistant", "content": f"it is {n}"}]}
        for n in range(12)
    ]
    (tmp_path / "chat.jsonl").write_text("\n".join(map(json.dumps, rows)))
    losses, _ = run(
        "llm",
        {
            "model": causal_lm(model),
            "dataset": {
                "_target_": f"{LLM}.chat_dataset.ChatDataset",
                "path_or_dataset_id": str(tmp_path / "chat.jsonl"),
                "seq_length": 128,
                "shuffle_seed": 42,
                "padding": "do_not_pad",
                "truncation": True,
            },
            "dataloader": LOADER,
            "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-3},
        },
    )
    assert all(0 < loss < 20 for loss in losses)


def png(colour):
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (48, 48), colour).save(stream, format="PNG")
    return stream.getvalue()


def test_images_that_a_parquet_file_holds(run, tmp_path):
    """Radiology questions as they are published: images inside of the file, the vision tower frozen."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    model = make_llava(tmp_path / "llava")
    names = list(COLOURS) * 8
    images = [{"bytes": png(COLOURS[name]), "path": None} for name in names]
    table = pyarrow.table({"image_id": images, "question": ["what colour is this ?"] * 24, "answer": names})
    parquet.write_table(table, tmp_path / "rows.parquet")
    losses, _ = run(
        "vlm",
        {
            "recipe": "FinetuneRecipeForVLM",
            "model": {
                "_target_": f"{NEMO}.NeMoAutoModelForImageTextToText.from_pretrained",
                "pretrained_model_name_or_path": str(model),
                "torch_dtype": "float32",
                "use_liger_kernel": False,
            },
            "processor": {
                "_target_": "transformers.AutoProcessor.from_pretrained",
                "pretrained_model_name_or_path": str(model),
            },
            "dataset": {
                "_target_": f"{NEMO}.components.datasets.vlm.datasets.make_medpix_dataset",
                "path_or_dataset": str(tmp_path / "rows.parquet"),
                "split": "train",
            },
            "dataloader": {
                "_target_": "torchdata.stateful_dataloader.StatefulDataLoader",
                "num_workers": 0,
                "collate_fn": {"_target_": f"{NEMO}.components.datasets.vlm.collate_fns.default_collate_fn"},
            },
            "loss_fn": {"_target_": f"{NEMO}.components.loss.masked_ce.MaskedCrossEntropy"},
            "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-2},
            "freeze_config": {"freeze_vision_tower": True, "freeze_language_model": False},
        },
        steps=6,
    )
    assert losses[-1] < losses[0]
    before, after = (load_file(place / "model.safetensors") for place in (model, tmp_path / "run" / "step-6"))
    same = {name for name in before if torch.equal(before[name], after[name])}
    assert same == {name for name in before if "vision_tower" in name}
