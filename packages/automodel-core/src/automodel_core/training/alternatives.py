"""Which recipe of a command a config names: the command's own, or another that it may run instead."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from automodel_core.config import RunConfig
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.loading import find_recipe, load_recipe_class

if TYPE_CHECKING:
    from automodel_core.training.recipe import BaseRecipe


def recipe_that_runs(config: RunConfig, recipe_class: type[BaseRecipe], catalog: Catalog) -> type[BaseRecipe]:
    """Return ``recipe_class``, or the alternative of its that ``recipe:`` of the config names.

    Raises :class:`InputError` (AM622) when the key names a recipe of another command.
    """
    if config.recipe is None:
        return recipe_class
    named = load_recipe_class(find_recipe(config.recipe, catalog, config.span("recipe")))
    candidates = (recipe_class, *map(_imported, recipe_class.alternatives))
    chosen = next((candidate for candidate in candidates if issubclass(candidate, named)), None)
    if chosen is None:
        message = f"`recipe: {config.recipe}` is not what this command runs, which is `{recipe_class.__name__}`"
        helps = ("use the command of that recipe, or remove the key",)
        raise InputError(Diagnostic("AM622", message, config.span("recipe"), helps=helps))
    return chosen


def _imported(name: str) -> type[BaseRecipe]:
    module, _, attribute = name.partition(":")
    found: type[BaseRecipe] = getattr(importlib.import_module(module), attribute)
    return found
