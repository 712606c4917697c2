"""The core of automodel: hooks, configuration, infrastructure pipeline, training loop and checkpoint format.

Every name below is imported when it is first used, so that ``import automodel_core`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from automodel_core.config import Component, RunConfig, load_run_config
    from automodel_core.diagnostics import Diagnostic, Span
    from automodel_core.errors import (
        AutomodelError,
        InputError,
        PluginError,
        RunFailedError,
        UnansweredHookError,
    )
    from automodel_core.hookspecs import HOOK_API, hookimpl, hookspec
    from automodel_core.infrastructure.blueprint import Blueprint, BoundNames, ModelAdapter
    from automodel_core.programmatic import run
    from automodel_core.specs import (
        NOTHING,
        DoctorCheck,
        KeyAlias,
        ModelSpec,
        RecipeFunctionSpec,
        RecipeSpec,
        RetiredKey,
        Route,
        RouteOption,
        SectionSpec,
        TargetSpec,
        TrustedPrefix,
    )
    from automodel_core.training.batches import StepLoss
    from automodel_core.training.recipe import BaseRecipe, run_recipe

__version__ = "0.1.0"

__all__ = [
    "HOOK_API",
    "NOTHING",
    "AutomodelError",
    "BaseRecipe",
    "Blueprint",
    "BoundNames",
    "Component",
    "Diagnostic",
    "DoctorCheck",
    "InputError",
    "KeyAlias",
    "ModelAdapter",
    "ModelSpec",
    "PluginError",
    "RecipeFunctionSpec",
    "RecipeSpec",
    "RetiredKey",
    "Route",
    "RouteOption",
    "RunConfig",
    "RunFailedError",
    "SectionSpec",
    "Span",
    "StepLoss",
    "TargetSpec",
    "TrustedPrefix",
    "UnansweredHookError",
    "hookimpl",
    "hookspec",
    "load_run_config",
    "run",
    "run_recipe",
]

_HOMES = {
    "automodel_core.config": ("Component", "RunConfig", "load_run_config"),
    "automodel_core.diagnostics": ("Diagnostic", "Span"),
    "automodel_core.errors": ("AutomodelError", "InputError", "PluginError", "RunFailedError", "UnansweredHookError"),
    "automodel_core.hookspecs": ("HOOK_API", "hookimpl", "hookspec"),
    "automodel_core.infrastructure.blueprint": ("Blueprint", "BoundNames", "ModelAdapter"),
    "automodel_core.programmatic": ("run",),
    "automodel_core.specs": (
        "NOTHING",
        "DoctorCheck",
        "KeyAlias",
        "ModelSpec",
        "RecipeFunctionSpec",
        "RecipeSpec",
        "RetiredKey",
        "Route",
        "RouteOption",
        "SectionSpec",
        "TargetSpec",
        "TrustedPrefix",
    ),
    "automodel_core.training.batches": ("StepLoss",),
    "automodel_core.training.recipe": ("BaseRecipe", "run_recipe"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module `automodel_core` has no attribute `{name}`")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
