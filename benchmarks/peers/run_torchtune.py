"""torchtune's single-device recipes, run in this process with a config; its metric logger feeds the meter."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import torch
import torchtune
from omegaconf import OmegaConf

from peers.meter import Meter
from peers.workloads import ALPHA, DATA, HOME, MAX_NORM, RANK, Workload, batches, optimizer_settings, parse_run

METER = Meter()
HERE = "peers.run_torchtune"
RECIPES = {
    False: ("full_finetune_single_device", "FullFinetuneRecipeSingleDevice"),
    True: ("lora_finetune_single_device", "LoRAFinetuneRecipeSingleDevice"),
}


class Rows(torch.utils.data.Dataset):
    """The common rows as torchtune wants them."""

    def __init__(self, workload: str, steps: int) -> None:
        from peers.workloads import WORKLOADS

        self.ids = [ids for batch in batches(WORKLOADS[workload], steps) for ids in batch]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> dict[str, list[int]]:
        return {"tokens": list(self.ids[index]), "labels": list(self.ids[index])}


def rows(tokenizer: Any, workload: str, steps: int, **others: Any) -> Rows:
    return Rows(workload, steps)


class Tokenizer:
    """All that the recipe asks of a tokenizer whose rows are tokens already."""

    pad_id, max_seq_len = 0, 256


class MeterLogger:
    """Receives what the recipe logs after each step."""

    def log_dict(self, values: dict[str, Any], step: int) -> None:
        METER.step_ended(float(values["loss"]))

    def log_config(self, config: Any) -> None:
        """The config is known."""

    def close(self) -> None:
        """Nothing is open."""


def constant(optimizer: torch.optim.Optimizer, num_training_steps: int, last_epoch: int) -> Any:
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0, last_epoch)


def model_config(workload: Workload) -> dict[str, Any]:
    config = json.loads((DATA / workload.model / "config.json").read_text(encoding="utf-8"))
    lora = {
        "lora_attn_modules": ["q_proj", "k_proj", "v_proj", "output_proj"],
        "apply_lora_to_mlp": True,
        "lora_rank": RANK,
        "lora_alpha": ALPHA,
        "lora_dropout": 0.0,
    }
    return {
        "_component_": f"torchtune.models.llama3.{'lora_llama3' if workload.lora else 'llama3'}",
        "vocab_size": config["vocab_size"],
        "num_layers": config["num_hidden_layers"],
        "num_heads": config["num_attention_heads"],
        "num_kv_heads": config["num_key_value_heads"],
        "embed_dim": config["hidden_size"],
        "max_seq_len": config["max_position_embeddings"],
        "rope_base": int(config["rope_parameters"]["rope_theta"]),
        "intermediate_dim": config["intermediate_size"],
        "norm_eps": config["rms_norm_eps"],
        **(lora if workload.lora else {}),
    }


def recipe_config(workload: Workload, name: str, steps: int) -> dict[str, Any]:
    out = HOME / "work" / "torchtune"
    out.mkdir(parents=True, exist_ok=True)
    optimizer = optimizer_settings()
    return {
        "output_dir": str(out),
        "model": model_config(workload),
        "tokenizer": {"_component_": f"{HERE}.Tokenizer"},
        "dataset": {"_component_": f"{HERE}.rows", "packed": False, "workload": name, "steps": steps},
        "seed": 1,
        "shuffle": False,
        "checkpointer": {
            "_component_": "torchtune.training.FullModelHFCheckpointer",
            "checkpoint_dir": str(DATA / workload.model),
            "checkpoint_files": ["model.safetensors"],
            "recipe_checkpoint": None,
            "output_dir": str(out),
            "model_type": "LLAMA3",
        },
        "resume_from_checkpoint": False,
        "save_adapter_weights_only": True,
        "batch_size": workload.batch,
        "epochs": 1,
        "optimizer": {"_component_": "torch.optim.AdamW", **optimizer, "betas": list(optimizer["betas"])},
        "lr_scheduler": {"_component_": f"{HERE}.constant"},
        "loss": {"_component_": "torch.nn.CrossEntropyLoss"},
        "max_steps_per_epoch": steps,
        "gradient_accumulation_steps": 1,
        "optimizer_in_bwd": False,
        "clip_grad_norm": MAX_NORM,
        "compile": False,
        "device": "cpu",
        "enable_activation_checkpointing": False,
        "enable_activation_offloading": False,
        "dtype": "fp32",
        "metric_logger": {"_component_": f"{HERE}.MeterLogger"},
        "log_every_n_steps": 1,
        "log_peak_memory_stats": False,
        "profiler": {"_component_": "torchtune.training.setup_torch_profiler", "enabled": False},
    }


def recipe_class(lora: bool) -> Any:
    """Return the recipe: ``import recipes`` is refused, so its file is loaded by path, as torchtune's command does."""
    stem, name = RECIPES[lora]
    file = Path(torchtune.__file__).parents[1] / "recipes" / f"{stem}.py"
    spec = importlib.util.spec_from_file_location(stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def main() -> None:
    run = parse_run()
    sys.modules[HERE] = sys.modules["__main__"]  # what the config names is this very module, with this meter
    config = OmegaConf.create(recipe_config(run.workload, sys.argv[1], run.steps))
    recipe = recipe_class(run.workload.lora)(cfg=config)
    recipe.setup(cfg=config)
    recipe.save_checkpoint = lambda *arguments, **keywords: None  # no other peer saves in this comparison
    recipe.train()
    METER.emit(run.workload.tokens)


if __name__ == "__main__":
    main()
