"""The table of other spellings: keys of other systems, and what they are called here.

Only what means the same has a line. :data:`CORE_KEY_ALIASES` are keys with a counterpart, :data:`CORE_RETIRED_KEYS`
keys that ask for what is done anyway. Plugins add the lines of their own sections.
"""

from __future__ import annotations

from typing import Final

from automodel_core.specs import KeyAlias, RetiredKey

CORE_KEY_ALIASES: Final = (
    KeyAlias("recipe._target_", "recipe"),
    KeyAlias("step_scheduler.val_every_steps", "step_scheduler.val_check_interval"),
    KeyAlias("step_scheduler.ckpt_every_steps", "step_scheduler.checkpoint_interval"),
    KeyAlias("step_scheduler.log_remote_every_steps", "step_scheduler.log_interval"),
    KeyAlias("step_scheduler.local_batch_size", "dataloader.batch_size"),
    KeyAlias("model.pretrained_model_name_or_path", "model.name_or_path"),
    KeyAlias("tokenizer.pretrained_model_name_or_path", "tokenizer.name_or_path"),
    KeyAlias("checkpoint.checkpoint_dir", "checkpoint.directory"),
    KeyAlias("checkpoint.restore_from", "restore_from.path"),
    KeyAlias("lr_scheduler.lr_decay_style", "lr_scheduler.decay"),
    KeyAlias("lr_scheduler.lr_warmup_steps", "lr_scheduler.warmup_steps"),
    KeyAlias("lr_scheduler.lr_decay_steps", "lr_scheduler.decay_steps"),
    KeyAlias("packed_sequence.packed_sequence_size", "packed_sequence.size"),
    KeyAlias("packed_sequence.pack_size", "packed_sequence.size"),
    KeyAlias("peft.dim", "peft.rank"),
    KeyAlias("peft.r", "peft.rank"),
    KeyAlias("peft.lora_alpha", "peft.alpha"),
    KeyAlias("peft.lora_dropout", "peft.dropout"),
    KeyAlias("peft.match_all_linear", "peft.target_modules", values=((True, "all-linear"), (False, None))),
    KeyAlias("freeze_config", "freeze"),
    KeyAlias("freeze.freeze_embeddings", "freeze.embeddings"),
    KeyAlias("freeze.freeze_vision_tower", "freeze.vision_tower"),
    KeyAlias("freeze.freeze_audio_tower", "freeze.audio_tower"),
    KeyAlias("freeze.freeze_language_model", "freeze.language_model"),
    KeyAlias("wandb", "logging.wandb"),
    KeyAlias("logging.wandb.enable", "logging.wandb.enabled"),
    KeyAlias("logging.wandb.dir", "logging.wandb.directory"),
    KeyAlias("seed", "rng.seed"),
)

_NEMO: Final = "nemo_automodel"
_LOADERS: Final = ("torchdata.stateful_dataloader.StatefulDataLoader", "torch.utils.data.DataLoader")
_TOKENIZERS: Final = (
    f"{_NEMO}.NeMoAutoTokenizer.from_pretrained",
    f"{_NEMO}._transformers.auto_tokenizer.NeMoAutoTokenizer.from_pretrained",
    "transformers.AutoTokenizer.from_pretrained",
)
_KERNELS: Final = "torch's kernels are used, and those of `model.attn_implementation`: the same values up to rounding"
_SAFETENSORS: Final = "checkpoints are always safetensors, which load without running code"
_ONE_RANK: Final = ("none", None)
"""Values of a size that other systems read as 1."""

CORE_RETIRED_KEYS: Final = (
    RetiredKey("rng._target_", (f"{_NEMO}.components.training.rng.StatefulRNG",)),
    RetiredKey("rng.ranked", (True,), otherwise="remove it: every rank draws from a stream of its own"),
    *(
        RetiredKey(f"{section}.{key}", values)
        for section in ("dataloader", "validation_dataloader")
        for key, values in (
            ("_target_", _LOADERS),
            ("batch_size", (None,)),
            ("drop_last", (False,)),
            ("group_by_length", (False,)),
            ("persistent_workers", None),
            ("prefetch_factor", None),
            ("dataloader_type", ("single",)),
        )
    ),
    RetiredKey("dataloader.drop_last", (True,), "every sample is used: the last batch of an epoch may be smaller"),
    RetiredKey("validation_dataloader.drop_last", (True,), "every sample counts: the last batch may be smaller"),
    RetiredKey("validation_dataloader.shuffle"),
    RetiredKey("step_scheduler.gc_every_steps"),
    RetiredKey(
        "step_scheduler.save_checkpoint_every_epoch", (False,), otherwise="write `checkpoint_interval: N`, in steps"
    ),
    RetiredKey("dist_env.init_method", ("env://",), otherwise="write `master_addr` and `master_port`"),
    RetiredKey("distributed._target_", (f"{_NEMO}.components.distributed.fsdp2.FSDP2Manager",)),
    *(
        RetiredKey(f"distributed.{size}", _ONE_RANK)
        for size in ("tp_size", "pp_size", "cp_size", "ep_size", "dp_replicate_size")
    ),
    *(RetiredKey(f"distributed.{key}", (None,)) for key in ("pipeline", "moe", "mp_policy", "offload_policy")),
    *(
        RetiredKey(f"distributed.{key}", (False,), otherwise="it is not available yet: remove it")
        for key in ("activation_checkpointing", "enable_async_tensor_parallel", "enable_compile")
    ),
    *(
        RetiredKey(f"distributed.{key}")
        for key in (
            *("defer_fsdp_grad_sync", "enable_fsdp2_prefetch"),
            *("fsdp2_backward_prefetch_depth", "fsdp2_forward_prefetch_depth", "patch_is_packed_sequence"),
        )
    ),
    RetiredKey("compile.backend", (None,)),
    RetiredKey("peft._target_", (f"{_NEMO}.components._peft.lora.PeftConfig",)),
    RetiredKey("peft.use_triton"),
    RetiredKey("peft.use_memory_efficient_lora"),
    RetiredKey("checkpoint.model_save_format", ("safetensors",), otherwise=f"remove it: {_SAFETENSORS}"),
    RetiredKey("checkpoint.model_save_format", ("torch_save",), _SAFETENSORS),
    RetiredKey("checkpoint.save_consolidated", (True, "every", "final")),
    RetiredKey("checkpoint.save_consolidated", (False,), "checkpoints are always consolidated"),
    RetiredKey("checkpoint.diffusers_compatible", (True,)),
    RetiredKey("checkpoint.dequantize_base_checkpoint", (False,)),
    RetiredKey("checkpoint.dequantize_base_checkpoint", (True,), "quantized weights are refused, not dequantized"),
    *(RetiredKey(f"tokenizer.{key}", values) for key, values in (("_target_", _TOKENIZERS), ("force_hf", (True,)))),
    RetiredKey("model.force_hf", (True, False)),
    RetiredKey("model.use_liger_kernel", (False,)),
    RetiredKey("model.use_liger_kernel", (True,), _KERNELS),
    RetiredKey("model.use_sdpa_patching", (False, True)),
    *(
        RetiredKey(f"model.backend.{key}", values)
        for key, values in (
            ("attn", ("te", "sdpa", "eager", "tilelang", "magi", "flex")),
            ("linear", ("te", "torch", "quack")),
            ("rms_norm", ("te", "torch", "torch_fp32", "quack")),
            ("experts", ("te", "torch", "torch_mm", "gmm")),
            ("dispatcher", ("torch", "deepep", "hybridep", "uccl_ep", "mok")),
            ("rope", ("torch", "quack")),
            ("fake_balanced_gate", (False,)),
            ("enable_hf_state_dict_adapter", None),
            ("enable_fsdp_optimizations", None),
            ("enable_deepep", None),
            ("rope_fusion", None),
            ("compile_attn", None),
            ("dispatcher_num_sms", None),
            ("te_fp8", (None,)),
        )
    ),
    RetiredKey(
        "model.backend",
        (
            f"{_NEMO}.components.models.common.BackendConfig",
            f"{_NEMO}.components.models.common.utils.BackendConfig",
        ),
        _KERNELS,
    ),
)
