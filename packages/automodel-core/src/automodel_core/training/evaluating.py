"""What ``automodel evaluate`` does in every domain: the loss over held-out data, and the recipe's own figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import attrs

from automodel_core.data.loader import OrderedLoader
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.specs import NOTHING
from automodel_core.training.recipe import BaseRecipe, warn
from automodel_core.training.validation import evaluate_loader, measure_loader


@attrs.frozen
class EvaluationResult:
    """``loss`` is the mean over the ``targets`` of all ``samples``; ``metrics`` are what the recipe measures beside."""

    loss: float
    targets: int
    samples: int
    metrics: Mapping[str, float]

    def to_data(self) -> dict[str, float]:
        """Return one flat record for JSON."""
        return {"loss": self.loss, **self.metrics, "targets": self.targets, "samples": self.samples}

    def line(self) -> str:
        """Return one line of ``key=value``."""
        metrics = "".join(f" {name}={_short(value)}" for name, value in self.metrics.items())
        return f"loss={self.loss:.4f}{metrics} targets={self.targets} samples={self.samples}"


class HeldOutEvaluation(BaseRecipe):
    """Measures a model on ``validation_dataset``, or on ``dataset`` when there is none. Nothing is trained.

    The base, before a recipe that trains, of the recipe that evaluates what that one trained; ``measure`` adds figures.
    """

    required_sections: ClassVar[tuple[str, ...]] = ("model",)
    trains: ClassVar[bool] = False
    splits: ClassVar[tuple[str, ...]] = ("validation",)
    result: EvaluationResult

    def execute(self) -> None:
        """Build the model and the data, measure, print."""
        checkpoint, processor = self.begin()
        loader = self._held_out(processor)
        state = self.build_model_state(processor, checkpoint)
        loss = evaluate_loader(state, loader)
        assert loss is not None  # nobody stops it
        metrics = {**self.figures_of(loss.mean), **measure_loader(state, "evaluation", loader)}
        self.result = EvaluationResult(loss.mean, loss.targets, len(loader.dataset), metrics)
        print(json.dumps(self.result.to_data()) if self.config.evaluation.json else self.result.line())

    def _say_it_was_trained_on(self) -> None:
        message = "there is no `validation_dataset`, so `dataset` is measured: a model that was trained on it knows it"
        helps = ("add `validation_dataset:` with held-out data",)
        place = self.config.span("dataset")
        warn([Diagnostic("AM933", message, place, helps=helps, severity="warning")])

    def figures_of(self, loss: float) -> Mapping[str, float]:
        """Return what follows from the mean loss alone."""
        return {}

    def _held_out(self, processor: Any) -> OrderedLoader:
        for split in ("validation", "train"):
            section = "validation_dataset" if split == "validation" else "dataset"
            if getattr(self.config, section) is not None:
                loader = self.host.build("build_dataloader", config=self.config, split=split, processor=processor)
                if loader is not NOTHING:
                    unshuffled: OrderedLoader = attrs.evolve(loader, shuffle=False)
                    if section == "dataset":
                        self._say_it_was_trained_on()
                    return unshuffled
        helps = ("add `validation_dataset:`, or `dataset:`, with a `_target_`",)
        raise InputError(Diagnostic("AM303", "there is no data to evaluate on", helps=helps))


def _short(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"
