"""Other spellings whose meaning differs a little from what they mean elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from automodel_core.config.component import Component
from automodel_core.config.rules.rule import Situation
from automodel_core.diagnostics import Diagnostic
from automodel_core.specs import TargetSpec

if TYPE_CHECKING:
    from automodel_core.config.run_config import RunConfig


def notes_of_aliases(situation: Situation) -> Iterator[Diagnostic]:
    """An alias that was used and whose declaration carries a note shows the note."""
    config = situation.config
    for renamed in config.renamed:
        if renamed.note and renamed.new is not None:
            message = f"`{renamed.old}` is read as `{renamed.new}`: {renamed.note}"
            yield Diagnostic("AM910", message, renamed.span, "another spelling", severity="warning")
        elif renamed.note:
            message = f"`{renamed.old}` has no effect: {renamed.note}"
            yield Diagnostic("AM916", message, renamed.span, "no counterpart", ("remove it",), severity="warning")
    for section in config.sections.values():
        if isinstance(section, Component):
            yield from _target_notes(section, config)


def _target_notes(component: Component, config: RunConfig) -> Iterator[Diagnostic]:
    spec = config.vocabulary.targets.get(component.target)
    if isinstance(spec, TargetSpec) and component.target in spec.fallback_for:
        message = f"`{component.target}` is not used, `{spec.name}` does its job: {spec.note}"
        yield Diagnostic("AM911", message, component.target_span, "a fallback", severity="warning")
    for nested in component.nested():
        yield from _target_notes(nested, config)
