"""Declarations: no arguments, return an iterable of frozen specs, import nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from automodel_core.hookspecs.markers import hookspec

if TYPE_CHECKING:
    from automodel_core.specs import (
        AssetSpec,
        DoctorCheck,
        KeyAlias,
        ModelSpec,
        RecipeFunctionSpec,
        RecipeSpec,
        RetiredKey,
        Route,
        SectionSpec,
        TargetSpec,
        TrustedPrefix,
    )


@hookspec
def routes() -> Iterable[Route]:
    """Return the routes of the command line that this plugin adds.

    Called when the command line starts. Two plugins that declare one route are an error that names both.
    """


@hookspec
def recipes() -> Iterable[RecipeSpec]:
    """Return the recipe classes of this plugin."""


@hookspec
def recipe_functions() -> Iterable[RecipeFunctionSpec]:
    """Return the index of recipe functions of this plugin."""


@hookspec
def models() -> Iterable[ModelSpec]:
    """Return the model classes that configs may name, with the adapter of each."""


@hookspec
def targets() -> Iterable[TargetSpec | TrustedPrefix | KeyAlias | RetiredKey]:
    """Return names and aliases for ``_target_``, the module prefixes this plugin vouches for, and aliases of keys."""


@hookspec
def sections() -> Iterable[SectionSpec]:
    """Return the top-level sections of a config that this plugin adds."""


@hookspec
def doctor_checks() -> Iterable[DoctorCheck]:
    """Return checks for ``automodel doctor``.

    The target of each is a function without arguments that returns an ``automodel_core.doctor.Finding``, or several.
    One that raises is a finding of its own, which names the plugin.
    """


@hookspec
def assets() -> Iterable[AssetSpec]:
    """Return the small models and data sets that the quick starts of this plugin use, for ``automodel assets``.

    A config names the directory of one that was fetched as ``${asset:NAME}``.
    """
