"""``automodel config validate --deep``: what a run would find out before it reads weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from automodel_core.config import RunConfig
from automodel_core.errors import InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.choosing import choose_recipe
from automodel_core.plugins.loading import load_recipe_class
from automodel_core.training.component_check import check_components
from automodel_core.training.file_check import all_problems
from automodel_core.training.recipe import recipe_on_host


def check_deeply(config: RunConfig, plugin_files: Sequence[str], catalog: Catalog) -> None:
    """Make the recipe that ``config`` is for and let it examine all that comes before weights.

    Where no plugin declares a recipe for the config, as with a model class of one's own, only its components are
    checked. Raises :class:`InputError` with everything that is wrong.
    """
    try:
        spec, _ = choose_recipe(config, None, catalog)
    except InputError:
        spec = None
    if spec is None:
        check_components(config)
        return
    recipe_class = load_recipe_class(spec)
    recipe = recipe_on_host(recipe_class, config, plugin_files=[Path(p) for p in plugin_files], catalog=catalog)
    problems = all_problems(recipe)
    if problems:
        raise InputError(problems)
