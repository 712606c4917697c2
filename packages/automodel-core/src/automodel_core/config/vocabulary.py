"""What a config may say: the sections, targets, trusted modules and key aliases of the core and the plugins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs

from automodel_core.config.spellings import CORE_KEY_ALIASES, CORE_RETIRED_KEYS
from automodel_core.specs import KeyAlias, ModelSpec, RetiredKey, SectionSpec, TargetSpec, TrustedPrefix

_SECTIONS = "automodel_core.config.sections"

CONSTANT = "constant"
"""The kind of a target that is a value and not called."""

PRETRAINED = "pretrained"
"""The kind of a trusted prefix of which only ``….from_pretrained`` and ``….from_config`` may be called."""

CONFIGURATION = "configuration"
"""The kind of a trusted prefix of which only classes may be called whose names end in ``Config``: they hold values."""


@attrs.frozen
class Vocabulary:
    """Sections by key, targets by every name and alias, trusted module prefixes, other spellings of keys."""

    sections: Mapping[str, SectionSpec] = attrs.field(factory=dict)
    targets: Mapping[str, TargetSpec | ModelSpec] = attrs.field(factory=dict)
    trusted: tuple[TrustedPrefix, ...] = ()
    key_aliases: tuple[KeyAlias, ...] = ()
    retired_keys: tuple[RetiredKey, ...] = ()
    files: Mapping[Path, Path | None] = attrs.field(factory=dict)
    """Python files that may be imported as targets, and the directory whose configs may not, as of a prefix."""
    section_owners: Mapping[str, str] = attrs.field(factory=dict)
    """Which plugin a section is of, in the words of a report; none for those of the core."""

    def with_plugins(
        self,
        *,
        sections: Mapping[str, SectionSpec] | None = None,
        targets: Mapping[str, TargetSpec | ModelSpec] | None = None,
        trusted: tuple[TrustedPrefix, ...] = (),
        key_aliases: tuple[KeyAlias, ...] = (),
        retired_keys: tuple[RetiredKey, ...] = (),
        files: Mapping[Path, Path | None] | None = None,
        section_owners: Mapping[str, str] | None = None,
    ) -> Vocabulary:
        """Return this vocabulary with more in it. Who owns a name twice is the catalog's business, not checked here."""
        return Vocabulary(
            sections={**self.sections, **(sections or {})},
            targets={**self.targets, **(targets or {})},
            trusted=(*self.trusted, *trusted),
            key_aliases=(*self.key_aliases, *key_aliases),
            retired_keys=(*self.retired_keys, *retired_keys),
            files={**self.files, **(files or {})},
            section_owners={**self.section_owners, **(section_owners or {})},
        )


def targets_by_name(*specs: TargetSpec | ModelSpec) -> dict[str, TargetSpec | ModelSpec]:
    """Return ``specs`` under each of their names and aliases."""
    return {name: spec for spec in specs for name in spec.names}


def _typed(key: str, schema: str, summary: str) -> SectionSpec:
    return SectionSpec(key=key, schema=f"{_SECTIONS}:{schema}", summary=summary)


def _component(key: str, summary: str, default_target: str = "") -> SectionSpec:
    return SectionSpec(key=key, summary=summary, component=True, default_target=default_target)


CORE_SECTIONS = (
    _typed("step_scheduler", "StepScheduler", "How long to train, and how often to validate, save and log."),
    _typed("dist_env", "DistEnv", "How the processes of a run find each other."),
    _typed("rng", "Rng", "The seed of everything random."),
    _component("model", "The model; extra keys are arguments of its target."),
    _typed("compile", "Compile", "`torch.compile`, per block."),
    _typed("clip_grad_norm", "ClipGradNorm", "Clipping of the gradient's norm before each optimizer step."),
    _typed("distributed", "Distributed", "The strategy and the sizes of the parallel layout."),
    _component("loss_fn", "The loss; without it, the recipe's own."),
    _component("dataset", "The training data."),
    _component("validation_dataset", "The validation data; keys it leaves out come from `dataset`, then `model`."),
    _typed("packed_sequence", "PackedSequence", "Packing several samples into one sequence."),
    _typed("dataloader", "Dataloader", "Batches of the training data."),
    _typed("validation_dataloader", "ValidationDataloader", "Batches of the validation data."),
    _component("optimizer", "The optimizer of the trainable parameters."),
    _component(
        "lr_scheduler",
        "The learning rate over the steps; without it, constant; without a target, `WarmupDecay`.",
        "automodel_core.WarmupDecay",
    ),
    _typed("restore_from", "RestoreFrom", "The checkpoint to go on from."),
    _typed("peft", "Peft", "LoRA adapters. The section switches them on; `{}` takes every default."),
    _typed("freeze", "Freeze", "Parameters that are not trained."),
    _typed("checkpoint", "Checkpoint", "Where checkpoints are written and how many are kept."),
    _typed("tokenizer", "Tokenizer", "The tokenizer, when it is not the model's."),
    _typed("evaluation", "Evaluation", "What `automodel evaluate` measures, and how it says so."),
    _typed("logging", "Logging", "The record of metrics, what is drawn from it, and experiment trackers."),
    _typed("fp8", "Fp8", "FP8 matrix products."),
    _typed("qat", "Qat", "Quantization-aware training."),
)

CORE_TARGETS = (
    TargetSpec("torch.optim.AdamW", "torch.optim:AdamW", "optimizer", ("AdamW",)),
    TargetSpec("torch.optim.Adam", "torch.optim:Adam", "optimizer", ("Adam",)),
    TargetSpec("torch.optim.SGD", "torch.optim:SGD", "optimizer", ("SGD",)),
    TargetSpec(
        "automodel_core.CosineAnnealingWarmup",
        "automodel_core.training.schedules:CosineAnnealingWarmup",
        "lr_scheduler",
        ("CosineAnnealingWarmup", "nemo_automodel.schedulers.CosineAnnealingWarmup"),
    ),
    TargetSpec(
        "automodel_core.WarmupDecay", "automodel_core.training.schedules:WarmupDecay", "lr_scheduler", ("WarmupDecay",)
    ),
    TargetSpec(
        "automodel_core.FusedAdam",
        "automodel_core.training.fallback_optimizers:fused_adam",
        "optimizer",
        fallback_for=(
            "transformer_engine.pytorch.optimizers.FusedAdam",
            "transformer_engine.pytorch.optimizers.fused_adam.FusedAdam",
        ),
        note="torch's AdamW or Adam does the same step; its state and the weights keep the dtype of the parameters",
    ),
    TargetSpec(
        "automodel_core.FlashAdamW",
        "automodel_core.training.fallback_optimizers:flash_adamw",
        "optimizer",
        fallback_for=("flashoptim.FlashAdamW",),
        note="torch's AdamW does the same step, without compressed state: it needs more memory",
    ),
    TargetSpec("torch.nn.CrossEntropyLoss", "torch.nn:CrossEntropyLoss", "loss", ("CrossEntropyLoss",)),
    *(
        TargetSpec(f"transformers.get_{name}", f"transformers.optimization:get_{name}", "lr_scheduler")
        for name in (
            "constant_schedule",
            "constant_schedule_with_warmup",
            "linear_schedule_with_warmup",
            "cosine_schedule_with_warmup",
            "cosine_with_hard_restarts_schedule_with_warmup",
            "cosine_with_min_lr_schedule_with_warmup",
            "polynomial_decay_schedule_with_warmup",
            "inverse_sqrt_schedule",
            "wsd_schedule",
        )
    ),
    TargetSpec("transformers.Adafactor", "transformers.optimization:Adafactor", "optimizer"),
    # By name and not as a prefix: below `torch.utils.data` there are decoders that unpickle.
    *(
        TargetSpec(f"torch.utils.data.{name}", f"torch.utils.data:{name}", "dataset")
        for name in ("TensorDataset", "StackDataset", "ConcatDataset", "ChainDataset", "Subset")
    ),
    *(TargetSpec(f"torch.{name}", f"torch:{name}", CONSTANT) for name in ("float32", "float64", "float16", "bfloat16")),
)

CORE_TRUSTED = (
    TrustedPrefix("torch.optim", "optimizer"),
    TrustedPrefix("torch.nn", "module"),
    TrustedPrefix("transformers", PRETRAINED),
    TrustedPrefix("transformers", CONFIGURATION),
    TrustedPrefix("diffusers", PRETRAINED),
    TrustedPrefix("sentence_transformers", PRETRAINED),
)


def core_vocabulary() -> Vocabulary:
    """Return what a config may say without any plugin."""
    return Vocabulary(
        sections={spec.key: spec for spec in CORE_SECTIONS},
        targets=targets_by_name(*CORE_TARGETS),
        trusted=CORE_TRUSTED,
        key_aliases=CORE_KEY_ALIASES,
        retired_keys=CORE_RETIRED_KEYS,
    )
