"""What the target of a component takes, read from the source that the vocabulary says it has."""

from __future__ import annotations

from automodel_core.config.component import Component
from automodel_core.config.signatures import Arguments
from automodel_core.config.source_signatures import arguments_in_source
from automodel_core.config.trust import declared_owner, target_problem
from automodel_core.config.vocabulary import CONSTANT, Vocabulary
from automodel_core.specs import TargetSpec


def arguments_of_target(component: Component, vocabulary: Vocabulary) -> Arguments | None:
    """Return the arguments of a target that is called and may be, or ``None`` when its source does not tell them."""
    reference = _reference(component, vocabulary)
    return None if reference is None else arguments_in_source(reference)


def _reference(component: Component, vocabulary: Vocabulary) -> str | None:
    """Return where the target is defined, or ``None`` for one that is not called, or that may not be imported."""
    if not component.called or target_problem(component.target, component.target_span, vocabulary) is not None:
        return None
    owner = declared_owner(component.target, vocabulary)
    if owner is None:
        return component.target
    spec = vocabulary.targets[owner]
    if isinstance(spec, TargetSpec) and spec.kind == CONSTANT:
        return None
    return spec.target + component.target[len(owner) :]
