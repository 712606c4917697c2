"""What the diffusion domain declares. Declarations only: nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterable

from automodel_core.hookspecs import hookimpl
from automodel_core.specs import (
    AssetSpec,
    AssetWheel,
    KeyAlias,
    ModelSpec,
    RecipeSpec,
    RetiredKey,
    Route,
    RouteOption,
    SectionSpec,
    TargetSpec,
    TrustedPrefix,
)
from automodel_diffusion.spellings import KEY_ALIASES, RETIRED_KEYS

_TRAIN = "automodel_diffusion.recipes.train"
_GENERATE = "automodel_diffusion.recipes.generate"


@hookimpl
def routes() -> Iterable[Route]:
    return (
        Route("finetune", "diffusion", _TRAIN, "Fine-tune the denoiser of a pipeline (full or LoRA)."),
        Route("pretrain", "diffusion", _TRAIN, "Train a denoiser from scratch."),
        Route(
            "generate",
            "diffusion",
            _GENERATE,
            "Sample images from a pipeline or a checkpoint.",
            options=(RouteOption("--output", "sampling.output", "directory for the images"),),
        ),
    )


@hookimpl
def recipes() -> Iterable[RecipeSpec]:
    return (
        RecipeSpec(
            name="TrainDiffusionRecipe",
            target=f"{_TRAIN}:TrainDiffusionRecipe",
            summary="Flow matching: fine-tuning and training from scratch.",
            never_reads=("tokenizer",),
            requires=("model", "parallel_scheme", "dataset", "optimizer"),
        ),
        RecipeSpec(
            name="GenerateDiffusionRecipe",
            target=f"{_GENERATE}:GenerateDiffusionRecipe",
            summary="Images from a pipeline or a checkpoint.",
            never_reads=("tokenizer",),
            requires=("model", "parallel_scheme"),
        ),
    )


@hookimpl
def models() -> Iterable[ModelSpec]:
    return (
        ModelSpec(
            name="automodel_diffusion.AutoDiffusionPipeline",
            target="automodel_diffusion.models.pipeline:AutoDiffusionPipeline",
            adapter="automodel_diffusion.models.adapter:DiffusersAdapter",
            aliases=("NeMoAutoDiffusionPipeline", "nemo_automodel.NeMoAutoDiffusionPipeline"),
            capabilities=frozenset({"peft", "compile"}),
        ),
    )


@hookimpl
def targets() -> Iterable[TargetSpec | TrustedPrefix | KeyAlias | RetiredKey]:
    return (
        TargetSpec(
            name="automodel_diffusion.ImageDataset",
            target="automodel_diffusion.data.images:ImageDataset",
            kind="dataset",
            aliases=("ImageDataset",),
        ),
        TargetSpec(
            name="automodel_diffusion.LatentDataset",
            target="automodel_diffusion.data.latents:LatentDataset",
            kind="dataset",
            aliases=("LatentDataset",),
        ),
        TrustedPrefix("automodel_diffusion", "other"),
        *KEY_ALIASES,
        *RETIRED_KEYS,
    )


@hookimpl
def sections() -> Iterable[SectionSpec]:
    place = "automodel_diffusion.config"
    return (
        SectionSpec("parallel_scheme", f"{place}:ParallelScheme", "How each component is spread over ranks."),
        SectionSpec("flow_matching", f"{place}:FlowMatching", "Which noise levels are trained.", decides=("*",)),
        SectionSpec("ema", f"{place}:Ema", "An average of the weights over the steps.", decides=("*",)),
        SectionSpec("sampling", f"{place}:Sampling", "What is sampled, and how."),
    )


@hookimpl
def assets() -> Iterable[AssetSpec]:
    return (
        AssetSpec(
            name="digits",
            summary="1,797 handwritten digits, 8 x 8 grey PNG files (7 MB; downloads 13 MB)",
            licence="Optical Recognition of Handwritten Digits, Alpaydin and Kaynak, UCI, CC BY 4.0",
            wheels=(
                AssetWheel(
                    "scikit-learn==1.5.2",
                    "f8b0ccd4a902836493e026c03256e8b206656f91fbcc4fde28c57a5b752561f1",
                    platform="manylinux2014_x86_64",
                    python="3.11",
                ),
            ),
            convert="automodel_diffusion.assets:convert_digits",
        ),
    )
