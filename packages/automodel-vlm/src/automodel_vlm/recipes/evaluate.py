"""``automodel evaluate vlm``: the loss, and the share of answers that greedy decoding gives word for word."""

from __future__ import annotations

from automodel_core.training.evaluating import HeldOutEvaluation
from automodel_vlm.recipes.finetune import FinetuneRecipe


class EvaluateRecipe(HeldOutEvaluation, FinetuneRecipe):
    """The loss over held-out conversations, and exact match over all of them."""


main = EvaluateRecipe.main
