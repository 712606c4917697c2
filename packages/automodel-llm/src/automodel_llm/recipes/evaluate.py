"""``automodel evaluate llm``: loss, perplexity and exact match of a model on held-out data."""

from __future__ import annotations

import json
import math
from typing import Any, ClassVar

import attrs

from automodel_core.data.loader import OrderedLoader
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.specs import NOTHING
from automodel_core.training.run_state import ModelState
from automodel_core.training.validation import evaluate_loader
from automodel_llm.generation import answers_exactly
from automodel_llm.recipes.train_ft import TrainFinetuneRecipe


@attrs.frozen
class EvaluationResult:
    """``loss`` is the mean over the ``targets`` supervised tokens; ``exact_match`` a share of ``compared`` samples."""

    loss: float
    perplexity: float
    targets: int
    samples: int
    exact_match: float | None
    compared: int


class EvaluateRecipe(TrainFinetuneRecipe):
    """Measures a model on ``validation_dataset``, or on ``dataset`` when there is none. Nothing is trained."""

    required_sections: ClassVar[tuple[str, ...]] = ("model",)
    trains: ClassVar[bool] = False
    result: EvaluationResult

    def execute(self) -> None:
        """Build the model and the data, measure, print."""
        checkpoint, processor = self.begin()
        loader = self._held_out(processor)
        state = self.build_model_state(processor, checkpoint)
        self.result = evaluate_model(state, loader)
        self._print()

    def _held_out(self, processor: Any) -> OrderedLoader:
        for split in ("validation", "train"):
            section = "validation_dataset" if split == "validation" else "dataset"
            if getattr(self.config, section) is not None:
                loader = self.host.build("build_dataloader", config=self.config, split=split, processor=processor)
                if loader is not NOTHING:
                    unshuffled: OrderedLoader = attrs.evolve(loader, shuffle=False)
                    return unshuffled
        helps = ("add `validation_dataset:`, or `dataset:`, with a `_target_`",)
        raise InputError(Diagnostic("AM303", "there is no data to evaluate on", helps=helps))

    def _print(self) -> None:
        if self.config.evaluation.json:
            print(json.dumps(attrs.asdict(self.result)))
            return
        result = self.result
        line = f"loss={result.loss:.4f} perplexity={result.perplexity:.3f} targets={result.targets}"
        if result.exact_match is not None:
            line += f" exact_match={result.exact_match:.3f} compared={result.compared}"
        print(line)


def evaluate_model(state: ModelState, loader: OrderedLoader) -> EvaluationResult:
    """Return the loss over all of ``loader``, and exact match over its first samples where a tokenizer is there."""
    loss = evaluate_loader(state, loader)
    assert loss is not None  # nobody stops it
    wanted = state.config.evaluation.exact_match_samples if state.processor is not NOTHING else 0
    compared = min(wanted, len(loader.dataset))
    settings = state.config.generation
    hits = sum(answers_exactly(state, loader.dataset[i], settings) for i in range(compared))
    return EvaluationResult(
        loss=loss.mean,
        perplexity=math.exp(min(loss.mean, 700.0)),
        targets=loss.targets,
        samples=len(loader.dataset),
        exact_match=hits / compared if compared else None,
        compared=compared,
    )


main = EvaluateRecipe.main
