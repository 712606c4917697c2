"""Configuration: from a file with places to typed sections and components. Importing it is cheap; names load on use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from automodel_core.config.component import Component
    from automodel_core.config.components import (
        build_component,
        check_component,
        component_problems,
        inherit_arguments,
        resolve_target,
    )
    from automodel_core.config.dump import dump_value, dump_yaml
    from automodel_core.config.load import load_run_config
    from automodel_core.config.run_config import RunConfig
    from automodel_core.config.source import load_yaml, read_source
    from automodel_core.config.vocabulary import Vocabulary, core_vocabulary, targets_by_name

__all__ = [
    "Component",
    "RunConfig",
    "Vocabulary",
    "build_component",
    "check_component",
    "component_problems",
    "core_vocabulary",
    "dump_value",
    "dump_yaml",
    "inherit_arguments",
    "load_run_config",
    "load_yaml",
    "read_source",
    "resolve_target",
    "targets_by_name",
]

_HOMES = {
    "Component": "component",
    "RunConfig": "run_config",
    "Vocabulary": "vocabulary",
    "build_component": "components",
    "check_component": "components",
    "component_problems": "components",
    "core_vocabulary": "vocabulary",
    "dump_value": "dump",
    "dump_yaml": "dump",
    "inherit_arguments": "components",
    "load_run_config": "load",
    "load_yaml": "source",
    "read_source": "source",
    "resolve_target": "components",
    "targets_by_name": "vocabulary",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
