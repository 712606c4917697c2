"""Importing what a declaration names, with the plugin that declared it in every error."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.errors import InputError, PluginError
from automodel_core.plugins.catalog import Catalog
from automodel_core.plugins.ownership import Owned
from automodel_core.specs import RecipeSpec, Route


def load_main(owned: Owned[Route]) -> Callable[..., Any]:
    """Import the recipe module of a route and return its ``main``. Raise :class:`PluginError` when it has none."""
    route = owned.spec
    what = f"route `{route.command} {route.domain}` of {owned.owner}"
    main = getattr(_import_module(route.recipe, what), "main", None)
    if not callable(main):
        raise PluginError(f"{what} names `{route.recipe}`, which has no `main`")
    return main  # type: ignore[no-any-return]


def find_recipe(name: str, catalog: Catalog, span: Span | None = None) -> Owned[RecipeSpec]:
    """Return the declared recipe called ``name``: its own name, one that it has elsewhere, or its dotted path.

    Raise :class:`InputError`, pointing to ``span``, when there is none.
    """
    known = catalog.recipes
    found = known.get(name) or next((o for o in known.values() if o.spec.target.replace(":", ".") == name), None)
    if found is None:
        helps = (*did_you_mean(name, known), f"recipes: {', '.join(known) or 'none'}")
        raise InputError(Diagnostic("AM620", f"there is no recipe `{name}`", span, helps=helps))
    return found


def load_recipe_class(owned: Owned[RecipeSpec]) -> Any:
    """Import a declared recipe class. Raise :class:`PluginError` when it is not there."""
    module_name, _, attribute = owned.spec.target.partition(":")
    what = f"recipe `{owned.spec.name}` of {owned.owner}"
    recipe = getattr(_import_module(module_name, what), attribute, None)
    if not isinstance(recipe, type):
        raise PluginError(f"{what} names `{owned.spec.target}`, which is not a class")
    return recipe


def _import_module(name: str, what: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        error.add_note(f"while importing `{name}` for {what}")
        # The module itself is missing: the declaration is wrong. One that it imports in turn is another matter.
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise PluginError(f"{what} names `{name}`, and there is no module `{error.name}`") from error
        raise
