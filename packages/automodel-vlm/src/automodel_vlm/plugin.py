"""What the vlm domain declares. Declarations only: nothing heavy is imported here."""

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
from automodel_vlm.spellings import KEY_ALIASES, RETIRED_KEYS

_FINETUNE = "automodel_vlm.recipes.finetune"
_EVALUATE = "automodel_vlm.recipes.evaluate"
_GENERATE = "automodel_vlm.recipes.generate"


@hookimpl
def routes() -> Iterable[Route]:
    return (
        Route("finetune", "vlm", _FINETUNE, "Fine-tune a vision-language model (full or LoRA)."),
        Route(
            "evaluate",
            "vlm",
            _EVALUATE,
            "Measure loss and exact match on held-out conversations with images.",
            options=(RouteOption("--json", "evaluation.json", "print the result as JSON", constant="true"),),
        ),
        Route(
            "generate",
            "vlm",
            _GENERATE,
            "Answer a prompt about an image.",
            options=(
                RouteOption("--image", "visual_prompt.images", "the image file that is shown"),
                RouteOption("--prompt", "generation.prompt", "what the model answers"),
                RouteOption("--system", "generation.system", "the system message before the prompt"),
            ),
        ),
    )


@hookimpl
def recipes() -> Iterable[RecipeSpec]:
    return (
        RecipeSpec(
            name="VisionLanguageFinetuneRecipe",
            target=f"{_FINETUNE}:FinetuneRecipe",
            summary="Next-token prediction given text and images.",
            also_reads=("generation",),
            never_reads=("tokenizer",),
            aliases=("FinetuneRecipeForVLM", "nemo_automodel.recipes.vlm.finetune.FinetuneRecipeForVLM"),
        ),
        RecipeSpec(
            name="VisionLanguageEvaluateRecipe",
            target=f"{_EVALUATE}:EvaluateRecipe",
            summary="Loss and exact match on held-out conversations with images.",
            also_reads=("generation",),
            never_reads=("tokenizer",),
            requires=("model",),
        ),
        RecipeSpec(
            name="VisionLanguageGenerateRecipe",
            target=f"{_GENERATE}:GenerateRecipe",
            summary="An answer to a prompt about images.",
            also_reads=("generation",),
            never_reads=("tokenizer",),
            requires=("model",),
        ),
    )


@hookimpl
def models() -> Iterable[ModelSpec]:
    return (
        ModelSpec(
            name="automodel_vlm.AutoModelForImageTextToText",
            target="automodel_vlm.models.image_text_to_text:AutoModelForImageTextToText",
            adapter="automodel_core.adapters.transformers:TransformersAdapter",
            aliases=("NeMoAutoModelForImageTextToText", "nemo_automodel.NeMoAutoModelForImageTextToText"),
            capabilities=frozenset({"peft", "compile"}),
        ),
    )


@hookimpl
def targets() -> Iterable[TargetSpec | TrustedPrefix | KeyAlias | RetiredKey]:
    return (
        TargetSpec(
            name="automodel_vlm.VisualChatDataset",
            target="automodel_vlm.data.visual_chat:VisualChatDataset",
            kind="dataset",
            aliases=("VisualChatDataset",),
        ),
        TargetSpec(
            name="automodel_vlm.VisualQuestionDataset",
            target="automodel_vlm.data.visual_question:VisualQuestionDataset",
            kind="dataset",
            aliases=("VisualQuestionDataset",),
        ),
        TargetSpec(
            name="automodel_vlm.MedPixDataset",
            target="automodel_vlm.data.visual_question:MedPixDataset",
            kind="dataset",
            aliases=("MedPixDataset", "nemo_automodel.components.datasets.vlm.datasets.make_medpix_dataset"),
        ),
        TrustedPrefix("automodel_vlm", "other"),
        *KEY_ALIASES,
        *RETIRED_KEYS,
    )


@hookimpl
def sections() -> Iterable[SectionSpec]:
    place = "automodel_vlm.config"
    return (
        SectionSpec("processor", f"{place}:Processor", "The processor of images and text, when it is not the model's."),
        SectionSpec("visual_prompt", f"{place}:VisualPrompt", "The images of `automodel generate vlm`."),
    )


@hookimpl
def assets() -> Iterable[AssetSpec]:
    return (
        AssetSpec(
            name="easy-vqa",
            summary="48,248 questions about 5,000 images of shapes, and a small model to train (30 MB; downloads 3 MB)",
            licence="easy-VQA by Victor Zhou, MIT",
            wheels=(AssetWheel("easy-vqa==1.0", "fcb51b309b78c7b00f97b64cdbcbcf5c105f94da1b39c0796cee5a787c4f650f"),),
            convert="automodel_vlm.assets:convert_easy_vqa",
            revision="2",
        ),
    )
