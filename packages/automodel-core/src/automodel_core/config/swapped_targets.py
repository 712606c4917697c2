"""A target that an override replaced, over arguments that were written for the one before."""

from __future__ import annotations

from collections.abc import Collection

import attrs

from automodel_core.config.component import TARGET_KEY, Component, ComponentReader
from automodel_core.config.nodes import MappingNode, ScalarNode, node_at
from automodel_core.config.override_tokens import Override
from automodel_core.config.paths import format_path
from automodel_core.config.run_config import RunConfig
from automodel_core.config.signatures import spelled_for
from automodel_core.config.target_sources import arguments_of_target
from automodel_core.diagnostics import Diagnostic, Span


@attrs.frozen
class SwappedTarget:
    """One problem, and the places of the arguments that it is about, which need no problem of their own."""

    problem: Diagnostic
    left_over: Collection[Span]


def swapped_targets(config: RunConfig) -> list[SwappedTarget]:
    """Return the overrides of a ``_target_`` over arguments of the file that the new target does not take.

    The signature is read from its source: where that does not tell it, nothing is said.
    """
    found = (_swapped(override, config) for override in config.overrides if override.path[-1] == TARGET_KEY)
    return [swap for swap in found if swap is not None]


def _swapped(override: Override, config: RunConfig) -> SwappedTarget | None:
    path = override.path[:-1]
    old = None if config.before is None else config.before.at(override.path)
    component = _component_at(config, path)
    if component is None or not isinstance(old, ScalarNode) or old.value == component.target:
        return None
    arguments = arguments_of_target(component, config.vocabulary)
    if arguments is None:
        return None
    own = {one.path for one in config.overrides}
    refused = [
        key
        for key, name in spelled_for(component, arguments, config.vocabulary).items()
        if not arguments.accepts(name) and (*path, key) not in own
    ]
    if not refused:
        return None
    section = format_path(path)
    names = ", ".join(f"`{section}.{key}`" for key in refused)
    problem = Diagnostic(
        "AM115",
        f"`{component.target}` does not take {names}, which the config has for `{old.value}`",
        override.span,
        "another target",
        ("to delete what it does not take, add " + " ".join(f"`~{section}.{key}`" for key in refused),),
    )
    return SwappedTarget(problem, [component.key_spans[key] for key in refused])


def _component_at(config: RunConfig, path: tuple[str | int, ...]) -> Component | None:
    node = node_at(config.document, path)
    return ComponentReader().component(node, path) if isinstance(node, MappingNode) else None
