"""What a config may say: the sections, targets, trusted modules and key aliases of the core and the plugins."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from automodel_core.config.aliases import CORE_KEY_ALIASES
from automodel_core.specs import KeyAlias, ModelSpec, SectionSpec, TargetSpec, TrustedPrefix

_SECTIONS = "automodel_core.config.sections"

CONSTANT = "constant"
"""The kind of a target that is a value and not called."""

PRETRAINED = "pretrained"
"""The kind of a trusted prefix of which only ``….from_pretrained`` and ``….from_config`` may be called."""


@attrs.frozen
class Vocabulary:
    """Sections by key, targets by every name and alias, trusted module prefixes, aliases of keys."""

    sections: Mapping[str, SectionSpec] = attrs.field(factory=dict)
    targets: Mapping[str, TargetSpec | ModelSpec] = attrs.field(factory=dict)
    trusted: tuple[TrustedPrefix, ...] = ()
    key_aliases: tuple[KeyAlias, ...] = ()
    section_owners: Mapping[str, str] = attrs.field(factory=dict)
    """Which plugin a section is of, in the words of a report; none for those of the core."""

    def with_plugins(
        self,
        *,
        sections: Mapping[str, SectionSpec] | None = None,
        targets: Mapping[str, TargetSpec | ModelSpec] | None = None,
        trusted: tuple[TrustedPrefix, ...] = (),
        key_aliases: tuple[KeyAlias, ...] = (),
        section_owners: Mapping[str, str] | None = None,
    ) -> Vocabulary:
        """Return this vocabulary with more in it. Who owns a name twice is the catalog's business, not checked here."""
        return Vocabulary(
            sections={**self.sections, **(sections or {})},
            targets={**self.targets, **(targets or {})},
            trusted=(*self.trusted, *trusted),
            key_aliases=(*self.key_aliases, *key_aliases),
            section_owners={**self.section_owners, **(section_owners or {})},
        )


def targets_by_name(*specs: TargetSpec | ModelSpec) -> dict[str, TargetSpec | ModelSpec]:
    """Return ``specs`` under each of their names and aliases."""
    return {name: spec for spec in specs for name in (spec.name, *spec.aliases)}


def _typed(key: str, schema: str, summary: str) -> SectionSpec:
    return SectionSpec(key=key, schema=f"{_SECTIONS}:{schema}", summary=summary)


def _component(key: str, summary: str) -> SectionSpec:
    return SectionSpec(key=key, summary=summary, component=True)


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
    _component("lr_scheduler", "The learning rate over the steps; without it, constant."),
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
    TargetSpec("torch.nn.CrossEntropyLoss", "torch.nn:CrossEntropyLoss", "loss", ("CrossEntropyLoss",)),
    *(TargetSpec(f"torch.{name}", f"torch:{name}", CONSTANT) for name in ("float32", "float64", "float16", "bfloat16")),
)

CORE_TRUSTED = (
    TrustedPrefix("torch.optim", "optimizer"),
    TrustedPrefix("torch.nn", "module"),
    TrustedPrefix("transformers", PRETRAINED),
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
    )
