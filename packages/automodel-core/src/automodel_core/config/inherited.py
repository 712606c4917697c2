"""What the sections of data take from other sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs

from automodel_core.config.component import Component
from automodel_core.config.components import key_that_feeds
from automodel_core.config.provenance import Origin
from automodel_core.config.run_config import RunConfig
from automodel_core.config.secrets import without_secrets
from automodel_core.config.target_sources import arguments_of_target

LENDERS: Final = {"dataset": ("model",), "validation_dataset": ("dataset", "model")}
"""Sections that a section's missing arguments come from, the first first."""
_TOKENIZER: Final = "tokenizer.name_or_path"


def lenders(config: RunConfig, section: str) -> list[Component]:
    """Return the components that lend to ``section``; the model with the tokenizer's place where the config has one."""
    found = (_lender(config, name) for name in LENDERS.get(section, ()))
    return [lender for lender in found if lender is not None]


def _lender(config: RunConfig, section: str) -> Component | None:
    component: Component | None = getattr(config, section)
    tokenizer = config.tokenizer.name_or_path
    if section == "model" and component is not None and tokenizer is not None:
        return attrs.evolve(component, kwargs={**component.kwargs, "name_or_path": tokenizer})
    return component


def inherited(config: RunConfig) -> Iterator[Origin]:
    """Yield the arguments that sections of data leave out and others lend, told from sources: nothing is imported."""
    for section in LENDERS:
        component = config.sections.get(section)
        arguments = arguments_of_target(component, config.vocabulary) if isinstance(component, Component) else None
        if isinstance(component, Component) and arguments is not None:
            for name in arguments.parameters:
                if name not in component.kwargs:
                    yield from _lent(section, name, config)


def _lent(section: str, name: str, config: RunConfig) -> Iterator[Origin]:
    for lender in lenders(config, section):
        key = key_that_feeds(name, lender)
        if key is not None:
            of_tokenizer = (lender.path, key) == ("model", "name_or_path") and config.tokenizer.name_or_path is not None
            source = _TOKENIZER if of_tokenizer else f"{lender.path}.{key}"
            value = without_secrets({name: lender.to_data()[key]})[name]
            yield Origin(f"{section}.{name}", value, config.span(source), taken_from=source)
            return
