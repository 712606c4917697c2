"""What the plan of the infrastructure depends on, as one frozen value, and where each fact comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import attrs

if TYPE_CHECKING:
    from automodel_core.config import RunConfig
    from automodel_core.config.sections import Freeze

FREEZABLE_PARTS: Final = ("embeddings", "language_model", "vision_tower", "audio_tower")

Origin: TypeAlias = Literal["directory", "seed", "module"]
"""Weights come from a directory, are drawn from the seed, or are already in the module."""


@attrs.frozen
class Sizes:
    """How many ways each axis of parallelism splits."""

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    replicate: int = 1
    data: int | None = None
    """The number of data-parallel ranks that the user fixed, or ``None``."""

    @property
    def model_axes(self) -> tuple[tuple[str, int], ...]:
        """The axes that split the model or the sequence, by their key in the config."""
        return (
            ("tp_size", self.tensor),
            ("pp_size", self.pipeline),
            ("cp_size", self.context),
            ("ep_size", self.expert),
        )


@attrs.frozen
class InfrastructureFacts:
    """Everything that :func:`plan_infrastructure` looks at."""

    origin: Origin = "directory"
    weights: str = ""
    """The directory that base weights are read from, as shown to the user."""
    restore: str = ""
    """The checkpoint directory that the run continues from, or empty."""
    peft_kind: str | None = None
    peft_rank: int = 0
    fp8: bool = False
    qat: bool = False
    frozen_patterns: tuple[str, ...] = ()
    frozen_parts: tuple[str, ...] = ()
    """Parts of the model that ``freeze`` names by a key of their own."""
    trainable_patterns: tuple[str, ...] = ()
    strategy: str = "fsdp2"
    sizes: Sizes = Sizes()
    world_size: int = 1
    device: str = "cpu"
    compile_backend: str | None = None
    """The backend when compilation is on."""
    claimed: Mapping[str, str] = attrs.field(factory=dict)
    """Stages that somebody other than the core implements, with who: they are asked whatever the config says."""


def frozen_parts(freeze: Freeze) -> tuple[str, ...]:
    """Return the parts that the section freezes."""
    return tuple(part for part in FREEZABLE_PARTS if getattr(freeze, part))


def facts_from(
    config: RunConfig,
    *,
    origin: Origin,
    world_size: int,
    device: str,
    weights: str = "",
    restore: str = "",
    claimed: Mapping[str, str] | None = None,
) -> InfrastructureFacts:
    """Return the facts of a run: what the config says, and what only the run knows."""
    distributed, compilation = config.distributed, config.compile
    peft = config.peft if config.given("peft") else None
    return InfrastructureFacts(
        origin=origin,
        weights=weights,
        restore=restore,
        peft_kind=None if peft is None else peft.kind,
        peft_rank=0 if peft is None else peft.rank,
        fp8=config.fp8.enabled,
        qat=config.qat.enabled,
        frozen_patterns=tuple(config.freeze.patterns),
        frozen_parts=frozen_parts(config.freeze),
        trainable_patterns=tuple(config.freeze.trainable),
        strategy=distributed.strategy,
        sizes=Sizes(
            tensor=distributed.tp_size,
            pipeline=distributed.pp_size,
            context=distributed.cp_size,
            expert=distributed.ep_size,
            replicate=distributed.dp_replicate_size,
            data=distributed.dp_size if isinstance(distributed.dp_size, int) else None,
        ),
        world_size=world_size,
        device=device,
        compile_backend=compilation.backend if compilation.enabled else None,
        claimed=dict(claimed or {}),
    )
