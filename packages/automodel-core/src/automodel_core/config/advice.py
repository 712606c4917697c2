"""Keys of other trainers, and where what they mean is said here.

None of them is read: a key whose meaning is the same in every value is an alias instead (``config.aliases``).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_COUNTERPARTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "dataloader.batch_size": (
            *("per_device_train_batch_size", "per_gpu_train_batch_size", "train_micro_batch_size_per_gpu"),
            *("micro_batch_size", "mbs"),
        ),
        "validation_dataloader.batch_size": (
            "per_device_eval_batch_size",
            "per_gpu_eval_batch_size",
            "eval_batch_size",
        ),
        "step_scheduler.global_batch_size": ("train_batch_size", "gbs"),
        "step_scheduler.grad_accumulation_steps": (
            *("gradient_accumulation_steps", "accumulate_grad_batches", "accumulation_steps"),
        ),
        "step_scheduler.num_epochs": ("num_train_epochs", "epochs", "max_epochs", "n_epochs"),
        "step_scheduler.max_steps": ("max_train_steps", "num_train_steps", "total_steps", "max_iters", "train_steps"),
        "step_scheduler.val_check_interval": ("eval_steps", "evals_per_epoch", "eval_interval", "val_interval"),
        "step_scheduler.checkpoint_interval": ("save_steps", "saves_per_epoch", "save_interval", "save_every_n_steps"),
        "step_scheduler.log_interval": ("logging_steps", "log_every_n_steps", "log_steps"),
        "optimizer.lr": ("learning_rate", "lr", "max_lr", "peak_lr"),
        "optimizer.weight_decay": ("weight_decay", "wd"),
        "optimizer.betas": ("adam_beta1", "adam_beta2", "betas"),
        "optimizer.eps": ("adam_epsilon", "adam_eps"),
        "optimizer._target_": ("optim", "optimizer_type", "optimizer_name", "optim_type"),
        "lr_scheduler._target_": ("lr_scheduler_type", "scheduler", "lr_schedule", "lr_scheduler_name"),
        "lr_scheduler.warmup_steps": ("warmup_steps", "num_warmup_steps", "lr_warmup_steps"),
        "lr_scheduler.min_lr": ("min_lr", "min_learning_rate"),
        "peft.rank": ("lora_r", "lora_rank"),
        "peft.alpha": ("lora_alpha",),
        "peft.dropout": ("lora_dropout",),
        "peft.target_modules": ("lora_target_modules", "lora_target", "lora_target_linear"),
        "checkpoint.directory": ("output_dir", "save_dir", "default_root_dir", "ckpt_dir"),
        "checkpoint.keep_last": ("save_total_limit", "keep_last_n", "save_top_k"),
        "restore_from.path": ("resume_from_checkpoint", "resume_from", "ckpt_path", "resume"),
        "dataset.max_seq_length": (
            "max_seq_length",
            "max_seq_len",
            "sequence_len",
            "seq_length",
            "cutoff_len",
            "block_size",
        ),
        "dataset.limit": ("max_samples", "max_train_samples"),
        "dataset.path": ("dataset_name", "train_file", "data_path", "datasets", "train_data"),
        "model.name_or_path": ("model_name_or_path", "base_model", "model_name", "model_id", "pretrained_model"),
        "model.dtype": ("torch_dtype", "dtype", "bf16", "fp16", "precision", "mixed_precision"),
        "model.attn_implementation": ("attn_implementation", "flash_attention", "use_flash_attn"),
        "clip_grad_norm.max_norm": (
            "max_grad_norm",
            "gradient_clipping",
            "gradient_clip_val",
            "grad_clip",
            "clip_grad",
        ),
        "dataloader.num_workers": ("dataloader_num_workers", "num_workers"),
        "distributed.strategy": ("fsdp", "fsdp_config", "fsdp_strategy", "strategy", "accelerator"),
        "distributed.tp_size": ("tensor_parallel_size", "tensor_model_parallel_size", "tp"),
        "distributed.pp_size": ("pipeline_parallel_size", "pipeline_model_parallel_size", "pp"),
        "distributed.cp_size": ("context_parallel_size", "cp"),
        "distributed.ep_size": ("expert_parallel_size", "expert_model_parallel_size", "ep"),
        "logging.wandb.project": ("wandb_project",),
        "logging.wandb.name": ("wandb_name", "wandb_run_name"),
        "compile.enabled": ("torch_compile", "use_compile"),
        "packed_sequence.enabled": ("packing", "sample_packing"),
        "rng.seed": ("data_seed",),
        "extends": ("extends", "defaults", "base", "_base_", "include", "inherit"),
    }
)
_LINES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "deepspeed": "sharding is in `distributed`, for example `distributed: {strategy: fsdp2}`",
        "zero_optimization": "sharding is in `distributed`, for example `distributed: {strategy: fsdp2}`",
        "use_peft": "write `peft: {}` for LoRA with every default, and leave it out to train every weight",
        "use_lora": "write `peft: {}` for LoRA with every default, and leave it out to train every weight",
        "adapter": "write `peft: {}` for LoRA with every default, and leave it out to train every weight",
        "lora": "write `peft: {}` for LoRA with every default",
        "finetuning_type": "write `peft: {}` for LoRA with every default, and leave it out to train every weight",
        "warmup_ratio": "write the number of steps: `warmup_steps` in `lr_scheduler`",
        "report_to": "name the tracker in `logging`, for example `logging: {wandb: {}}`",
        "eval_strategy": "write how often in steps: `step_scheduler.val_check_interval`",
        "evaluation_strategy": "write how often in steps: `step_scheduler.val_check_interval`",
        "save_strategy": "write how often in steps: `step_scheduler.checkpoint_interval`",
        "logging_strategy": "write how often in steps: `step_scheduler.log_interval`",
        "load_in_4bit": "remove it: quantized weights are not trained",
        "load_in_8bit": "remove it: quantized weights are not trained",
        "gradient_checkpointing": "remove it: activations are always kept",
        "push_to_hub": "remove it: a checkpoint is a Hugging Face directory that you can upload",
        "do_train": "remove it: the command says what is done, for example `automodel finetune llm`",
        "do_eval": "remove it: the command says what is done, for example `automodel evaluate llm`",
        "trainer": "its keys are in sections here: `step_scheduler`, `distributed`, `checkpoint`, `logging`",
        "training_args": "its keys are in sections here: `step_scheduler`, `optimizer`, `checkpoint`, `logging`",
        "TrainingArguments": "its keys are in sections here: `step_scheduler`, `optimizer`, `checkpoint`, `logging`",
    }
)
_KEYS: Final = {name: key for key, names in _COUNTERPARTS.items() for name in names}


def counterpart(name: str) -> str | None:
    """Return our dotted key for what other trainers call ``name``."""
    return _KEYS.get(name)


def advice(name: str) -> tuple[str, ...]:
    """Return a help line about a key of another trainer, or nothing for a name that is none."""
    if name in _LINES:
        return (_LINES[name],)
    key = counterpart(name)
    if key == "extends":
        return ("`extends: base.yaml` at the top of the file puts it on top of another",)
    return () if key is None else (f"it is `{key}` here",)
