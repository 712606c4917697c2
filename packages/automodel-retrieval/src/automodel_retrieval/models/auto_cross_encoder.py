"""The cross-encoder that ``model._target_`` names: query and document in one text, and a head that scores it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs
from torch import nn
from transformers import PreTrainedModel

from automodel_core.adapters.model_class import TransformersModelClass
from automodel_core.adapters.transformers import TransformersAdapter
from automodel_core.infrastructure.blueprint import Blueprint, BoundNames
from automodel_core.infrastructure.weights import WeightSource


class CrossEncoderAdapter(TransformersAdapter):
    """A transformers classifier whose head a pretrained model need not have."""

    def bind(self, model: nn.Module, checkpoint: Mapping[str, WeightSource]) -> BoundNames:
        """Match by transformers' own conversions. A head, and a pooler below it, that is absent starts anew."""
        bound = super().bind(model, checkpoint)
        absent = {name for name in bound.unbound if _is_head(model, name)}
        return attrs.evolve(bound, optional=bound.optional | absent)

    def output_head(self, model: nn.Module) -> str | None:
        """Return the layer that makes the score, when it is a single one."""
        heads = self.trained_beside_adapters(model)
        return heads[0] if len(heads) == 1 else None

    def peft_task(self, model: nn.Module) -> str | None:
        """Return ``SEQ_CLS``."""
        return "SEQ_CLS"

    def trained_beside_adapters(self, model: nn.Module) -> Sequence[str]:
        """Return the head: what the classifier adds to the plain model."""
        prefix = _prefix(model)
        return [n for n, child in model.named_children() if n != prefix and any(True for _ in child.parameters())]


def _prefix(model: nn.Module) -> str:
    assert isinstance(model, PreTrainedModel)
    return model.base_model_prefix


def _is_head(model: nn.Module, name: str) -> bool:
    prefix = _prefix(model)
    return not name.startswith(f"{prefix}.") or name.startswith(f"{prefix}.pooler.")


class AutoModelCrossEncoder(TransformersModelClass):
    """Builds a classifier with one output, whose logit is the score. ``num_labels`` may not be another number."""

    auto_class: ClassVar[str] = "AutoModelForSequenceClassification"

    @classmethod
    def blueprint(cls, method: str = "__call__", **arguments: Any) -> Blueprint:
        """Return the classifier on the meta device, its head drawn from the seed where the weights have none."""
        made = super().blueprint(method, **{"num_labels": 1, **arguments})
        return attrs.evolve(made, adapter=CrossEncoderAdapter())
