"""Checking every component of a config before the first one is built."""

from __future__ import annotations

from automodel_core.config import Component, RunConfig
from automodel_core.config.components import component_problems, inherit_arguments
from automodel_core.config.inherited import lenders
from automodel_core.config.rules.arguments import PROVIDED
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def complete_component(config: RunConfig, section: str) -> Component | None:
    """Return the component of ``section`` with what it leaves out taken from the sections it falls back on."""
    component: Component | None = getattr(config, section)
    if component is None:
        return None
    fallbacks = lenders(config, section)
    return inherit_arguments(component, *fallbacks, vocabulary=config.vocabulary) if fallbacks else component


def check_components(config: RunConfig) -> None:
    """Import every target and compare its signature with the keys, calling nothing. Raises all problems at once."""
    problems = [problem for found in problems_by_section(config).values() for problem in found]
    if problems:
        raise InputError(list(dict.fromkeys(problems)))


def problems_by_section(config: RunConfig) -> dict[str, list[Diagnostic]]:
    """Return what :func:`check_components` raises, by the section whose component is wrong."""
    problems: dict[str, list[Diagnostic]] = {}
    for section, spec in config.vocabulary.sections.items():
        if not spec.component or getattr(config, section) is None:
            continue
        try:
            component = complete_component(config, section)
        except InputError as error:
            problems[section] = list(error.diagnostics)
        else:
            assert component is not None
            problems[section] = component_problems(component, config.vocabulary, PROVIDED.get(section, ()))
    return {section: found for section, found in problems.items() if found}
