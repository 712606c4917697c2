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
        if renamed.note:
            message = f"`{renamed.old}` is read as `{renamed.new}`: {renamed.note}"
            yield Diagnostic("AM910", message, renamed.span, "another spelling", severity="warning")
    for section in config.sections.values():
        if isinstance(section, Component):
            yield from _target_notes(section, config)


def _target_notes(component: Component, config: RunConfig) -> Iterator[Diagnostic]:
    spec = config.vocabulary.targets.get(component.target)
    if isinstance(spec, TargetSpec) and spec.note and component.target in spec.aliases:
        message = f"`{component.target}` is read as `{spec.name}`: {spec.note}"
        yield Diagnostic("AM911", message, component.target_span, "another spelling", severity="warning")
    for nested in component.nested():
        yield from _target_notes(nested, config)
