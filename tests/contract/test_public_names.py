"""The names that other packages may rely on. Taking one away is a breaking change; adding one is a promise."""

from __future__ import annotations

import automodel_core
from automodel_core import plugins

PUBLIC = [
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


def test_the_public_names_are_frozen() -> None:
    assert automodel_core.__all__ == PUBLIC


def test_the_public_names_of_the_plugin_room_are_frozen() -> None:
    assert plugins.__all__ == [
        "CallOrderEntry",
        "Catalog",
        "InstalledPlugin",
        "Layer",
        "Owned",
        "PluginSettings",
        "RunHost",
        "run_host",
    ]


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(automodel_core, "no_such_name")
    assert not hasattr(plugins, "no_such_name")
