"""``automodel evaluate retrieval``: the loss and the ranking of held-out queries."""

from __future__ import annotations

from typing import ClassVar

from automodel_core.training.evaluating import HeldOutEvaluation
from automodel_retrieval.recipes.train_bi_encoder import TrainBiEncoderRecipe
from automodel_retrieval.recipes.train_cross_encoder import TrainCrossEncoderRecipe


class EvaluateRetrievalRecipe(HeldOutEvaluation, TrainBiEncoderRecipe):
    """The loss of a bi-encoder, and how it ranks the corpus of the held-out data."""

    alternatives: ClassVar[tuple[str, ...]] = ("automodel_retrieval.recipes.evaluate:EvaluateCrossEncoderRecipe",)


class EvaluateCrossEncoderRecipe(HeldOutEvaluation, TrainCrossEncoderRecipe):
    """The loss of a cross-encoder, and how it ranks the documents of each held-out row."""


main = EvaluateRetrievalRecipe.main
