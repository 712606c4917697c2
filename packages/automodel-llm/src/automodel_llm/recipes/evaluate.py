"""``automodel evaluate llm``: loss, perplexity and exact match of a model on held-out data."""

from __future__ import annotations

import math

from automodel_core.data.loader import OrderedLoader
from automodel_core.specs import NOTHING
from automodel_core.training.evaluating import HeldOutEvaluation
from automodel_core.training.run_state import ModelState
from automodel_llm.generation import answers_exactly
from automodel_llm.recipes.train_ft import TrainFinetuneRecipe


class EvaluateRecipe(HeldOutEvaluation, TrainFinetuneRecipe):
    """The loss, its perplexity, and exact match over the first samples where there is a tokenizer."""

    def figures_of(self, loss: float) -> dict[str, float]:
        """Return the perplexity."""
        return {"perplexity": math.exp(min(loss, 700.0))}

    def measure(self, run: ModelState, name: str, loader: OrderedLoader) -> dict[str, float]:
        """Return the share of samples whose generated answer is theirs word for word, and of how many."""
        wanted = self.config.evaluation.exact_match_samples if run.processor is not NOTHING else 0
        compared = min(wanted, len(loader.dataset))
        if not compared:
            return {}
        hits = sum(answers_exactly(run, loader.dataset[i], self.config.generation) for i in range(compared))
        return {"exact_match": hits / compared, "compared": compared}


main = EvaluateRecipe.main
