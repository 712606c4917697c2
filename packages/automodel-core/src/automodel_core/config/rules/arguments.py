"""The arguments of components against the signatures of their targets, read from sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from automodel_core.config.component import Component
from automodel_core.config.rules.rule import Situation
from automodel_core.config.signatures import argument_problems
from automodel_core.config.target_sources import arguments_of_target
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.diagnostics import Diagnostic

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
    arguments = arguments_of_target(component, vocabulary)
    if arguments is not None:
        for problem in argument_problems(component, arguments, vocabulary, provided):
            if complete or problem.code != _MISSING:
                yield problem
    for nested in component.nested():
        yield from _problems(nested, vocabulary, (), complete=True)
