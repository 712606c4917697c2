"""The arguments of components against the signatures of their targets, read from sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from automodel_core.config.component import Component
from automodel_core.config.rules.rule import Situation
from automodel_core.config.signatures import argument_problems
from automodel_core.config.source_signatures import arguments_in_source
from automodel_core.config.trust import declared_owner, target_problem
from automodel_core.config.vocabulary import CONSTANT, Vocabulary
from automodel_core.diagnostics import Diagnostic
from automodel_core.specs import TargetSpec

PROVIDED: Final[Mapping[str, tuple[str, ...]]] = {
    "optimizer": ("params",),
    "lr_scheduler": ("optimizer", "total_steps"),
    "dataset": ("processor",),
    "validation_dataset": ("processor",),
}
"""Arguments that builders supply themselves."""

_MISSING: Final = "AM208"
_COMPLETED: Final = ("dataset", "validation_dataset")
"""Sections that take what they leave out from others."""


def component_arguments(situation: Situation) -> Iterator[Diagnostic]:
    """Unknown, missing and ill-typed arguments, of every target whose source can be read."""
    config = situation.config
    for key, section in config.sections.items():
        if isinstance(section, Component):
            yield from _problems(section, config.vocabulary, PROVIDED.get(key, ()), complete=key not in _COMPLETED)


def _problems(
    component: Component, vocabulary: Vocabulary, provided: tuple[str, ...], *, complete: bool
) -> Iterator[Diagnostic]:
    reference = _reference(component, vocabulary)
    arguments = None if reference is None else arguments_in_source(reference)
    if arguments is not None:
        for problem in argument_problems(component, arguments, vocabulary, provided):
            if complete or problem.code != _MISSING:
                yield problem
    for nested in component.nested():
        yield from _problems(nested, vocabulary, (), complete=True)


def _reference(component: Component, vocabulary: Vocabulary) -> str | None:
    """Return where the target is defined, or ``None`` for one that is not called, or that may not be imported."""
    if not component.called or target_problem(component.target, None, vocabulary) is not None:
        return None
    owner = declared_owner(component.target, vocabulary)
    if owner is None:
        return component.target
    spec = vocabulary.targets[owner]
    if isinstance(spec, TargetSpec) and spec.kind == CONSTANT:
        return None
    return spec.target + component.target[len(owner) :]
