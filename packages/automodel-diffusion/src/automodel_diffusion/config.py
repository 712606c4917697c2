"""The sections that the diffusion domain adds to a config."""

from __future__ import annotations

from typing import Literal

import attrs

from automodel_core.config.options import ABOVE_ZERO, BELOW_ONE, NOT_EMPTY, NOT_NEGATIVE, POSITIVE, SEED, Check, option

_STRATEGY = Check(
    "`fsdp2` or `ddp` (`megatron_fsdp` wraps one whole model, and a pipeline is spread component by component)",
    lambda value: value in ("fsdp2", "ddp"),
)

CLASSES = Check("a list of class numbers from 0", lambda value: all(number >= 0 for number in value))


@attrs.frozen
class ComponentScheme:
    """How one component of a pipeline is spread over ranks."""

    strategy: str = option("fsdp2", "`fsdp2` or `ddp`.", _STRATEGY)
    dp_size: int | Literal["auto", "none"] | None = option(
        "auto", "Data-parallel ranks; `auto`, `none` and null: all.", POSITIVE
    )
    dp_replicate_size: int = option(1, "Groups of ranks that each hold the whole component.", POSITIVE)


@attrs.frozen
class ParallelScheme:
    """How each component of a pipeline is spread over ranks; the one that trains must be there."""

    transformer: ComponentScheme | None = option(None, "The denoiser, where it is a transformer.")  # noqa: RUF009
    unet: ComponentScheme | None = option(None, "The denoiser, where it is a UNet.")  # noqa: RUF009
    vae: ComponentScheme | None = option(None, "The autoencoder, which stays frozen.")  # noqa: RUF009
    text_encoder: ComponentScheme | None = option(None, "The text encoder, which stays frozen.")  # noqa: RUF009
    text_encoder_2: ComponentScheme | None = option(None, "The second text encoder.")  # noqa: RUF009
    text_encoder_3: ComponentScheme | None = option(None, "The third text encoder.")  # noqa: RUF009


@attrs.frozen
class FlowMatching:
    """Which noise levels are trained, and how much each counts."""

    timestep_sampling: Literal["logit_normal", "uniform", "mode"] = option(
        "logit_normal", "How noise levels are drawn."
    )
    logit_mean: float = option(0.0, "Mean of the logit, for `logit_normal`: more than 0 leans towards noise.")
    logit_std: float = option(1.0, "Standard deviation of the logit, for `logit_normal`.", ABOVE_ZERO)
    mode_scale: float = option(1.29, "How much `mode` prefers the middle; 0: uniform.")
    shift: float = option(1.0, "Shifts every level towards noise (more than 1): for large images.", ABOVE_ZERO)
    weighting: Literal["none", "sigma_sqrt", "cosmap"] = option(
        "none", "Weight of a sample's loss, a function of its noise level."
    )
    condition_dropout: float = option(
        0.1, "Share of samples trained without their label or caption, which guidance needs.", BELOW_ONE
    )


@attrs.frozen
class Ema:
    """An average of the weights over the steps, which checkpoints, validation and samples then show."""

    decay: float | None = option(None, "Share of the old average that each step keeps; null: no average.", BELOW_ONE)
    warmup: bool = option(True, "Keep less in the first steps: at most (1 + step) / (10 + step).")


@attrs.frozen
class Sampling:
    """What is sampled, at validation, at the end and by `automodel generate diffusion`."""

    labels: list[int] = option([], "Classes to sample, for a pipeline with labels.", CLASSES)  # noqa: RUF009
    prompts: list[str] = option([], "Texts to sample, for a pipeline with prompts.")  # noqa: RUF009
    per_condition: int = option(1, "Samples of each label or prompt.", POSITIVE)
    num_inference_steps: int = option(30, "Steps of the pipeline's scheduler.", POSITIVE)
    guidance_scale: float = option(1.0, "Strength of guidance; 1: none.", NOT_NEGATIVE)
    batch_size: int = option(50, "Samples made at once.", POSITIVE)
    seed: int = option(0, "Seed of the samples.", SEED)
    columns: int = option(10, "Columns of the grid.", POSITIVE)
    output: str | None = option(None, "Directory for `generate`'s files; null: `samples`.", NOT_EMPTY)
