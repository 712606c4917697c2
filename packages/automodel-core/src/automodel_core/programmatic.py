"""``automodel_core.run``: a run from Python, with any hook overridden by an object."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import InputError
from automodel_core.plugins import Catalog, Owned
from automodel_core.plugins.loading import find_recipe, load_main, load_recipe_class
from automodel_core.specs import RecipeSpec, Route

if TYPE_CHECKING:
    from automodel_core.config import RunConfig
    from automodel_core.training.recipe import BaseRecipe

DEFAULT_COMMAND: Final = "finetune"


def run(
    config: str | Path | Mapping[str, Any],
    overrides: Iterable[str] | Mapping[str, Any] = (),
    plugins: Iterable[object] = (),
    plugin_files: Iterable[str | Path] = (),
    route: str | None = None,
) -> Any:
    """Run the recipe of ``config`` and return the recipe object, with everything that was built in its ``run``.

    ``config`` is a YAML or TOML file, or a mapping. ``overrides`` are words as on the command line, or a mapping from
    dotted keys to values. ``plugins`` are objects whose ``@hookimpl`` methods answer before everybody else's. Which
    recipe: the ``recipe:`` key of the config, else ``route`` (``"finetune llm"``), else the ``finetune`` route of the
    plugin that declares the model's target. A route without a declared recipe class calls its module's ``main`` and
    returns what that returns.

    Raise :class:`InputError` for what cannot work; nothing is printed for it. A broken plugin is a warning.
    """
    from automodel_core.config import load_run_config

    if not isinstance(config, (str, os.PathLike, Mapping)):
        raise TypeError(f"`config` must be the path of a file or a mapping, not {type(config).__name__}")
    overrides = overrides if isinstance(overrides, Mapping) else tuple(overrides)
    plugins, plugin_files = tuple(plugins), tuple(plugin_files)
    catalog = Catalog.discover()
    vocabulary = catalog.vocabulary()
    for problem in catalog.problems():
        warnings.warn(problem.message, stacklevel=2)
    loaded = load_run_config(
        config, overrides=overrides, vocabulary=vocabulary, required=_sections_needed(route, catalog)
    )
    spec, chosen = _find_spec(loaded, route, catalog)
    if spec is None:
        assert chosen is not None
        return load_main(chosen)(config, overrides=overrides, plugins=plugins, plugin_files=plugin_files)
    from automodel_core.training.recipe import run_recipe

    return run_recipe(
        load_recipe_class(spec),
        config,
        overrides=overrides,
        plugins=plugins,
        plugin_files=plugin_files,
        catalog=catalog,
    )


def prepare_recipe(
    config: str | Path | Mapping[str, Any],
    *,
    overrides: Iterable[str] = (),
    plugin_files: Iterable[str | Path] = (),
    catalog: Catalog,
) -> BaseRecipe:
    """Return the recipe that :func:`run` would run, on its host, with nothing built yet.

    Raise :class:`InputError` when there is none, or none that is declared as a class.
    """
    from automodel_core.config import load_run_config
    from automodel_core.training.recipe import make_recipe

    overrides = tuple(overrides)
    loaded = load_run_config(
        config, overrides=overrides, vocabulary=catalog.vocabulary(), required=("model", "dataset")
    )
    spec, _ = _find_spec(loaded, None, catalog)
    if spec is None:
        message = "the command of this config declares no recipe class, so that nothing can be built apart from a run"
        raise InputError(Diagnostic("AM319", message))
    return make_recipe(load_recipe_class(spec), config, overrides=overrides, plugin_files=plugin_files, catalog=catalog)


def _sections_needed(route: str | None, catalog: Catalog) -> Collection[str]:
    """Return what the recipe of ``route`` cannot do without: one that evaluates needs no optimizer."""
    from automodel_core.config.load import REQUIRED_SECTIONS

    if route is None:
        return REQUIRED_SECTIONS
    spec = _recipe_of_route(_named_route(route, catalog).spec, catalog)
    return () if spec is None else load_recipe_class(spec).required_sections


def _find_spec(
    config: RunConfig, route: str | None, catalog: Catalog
) -> tuple[Owned[RecipeSpec] | None, Owned[Route] | None]:
    """Return the recipe of a config, or ``None`` and the route that declares no recipe class."""
    if config.recipe is not None:
        return find_recipe(config.recipe, catalog, config.span("recipe")), None
    chosen = _choose_route(config, route, catalog)
    return _recipe_of_route(chosen.spec, catalog), chosen


def _choose_route(config: RunConfig, route: str | None, catalog: Catalog) -> Owned[Route]:
    return _route_of_model(config, catalog) if route is None else _named_route(route, catalog)


def _named_route(route: str, catalog: Catalog) -> Owned[Route]:
    routes = {" ".join(key): owned for key, owned in catalog.routes.items()}
    name = " ".join(route.split())
    if name not in routes:
        helps = (*did_you_mean(name, routes), _listed("routes", routes))
        raise InputError(Diagnostic("AM621", f"there is no route `{name}`", helps=helps))
    return routes[name]


def _route_of_model(config: RunConfig, catalog: Catalog) -> Owned[Route]:
    """Return the route of the plugin that declares the model's target: its only one, or the ``finetune`` one."""
    target = config.model.target
    class_name = target.rpartition(".")[0]  # the target may be a class method: `….from_pretrained`
    owner = catalog.targets.get(target) or catalog.targets.get(class_name)
    routes = dict.fromkeys(o for o in catalog.routes.values() if owner is not None and o.plugin == owner.plugin)
    finetune = [owned for owned in routes if owned.spec.command == DEFAULT_COMMAND]
    candidates = list(routes) if len(routes) == 1 else finetune
    if len(candidates) == 1:
        return candidates[0]
    names = [f"{owned.spec.command} {owned.spec.domain}" for owned in catalog.routes.values()]
    raise InputError(
        Diagnostic(
            "AM621",
            f"which recipe trains `{target}` is not known",
            config.span("model._target_") or config.span("model"),
            helps=('say it: `route="finetune llm"`, or a `recipe:` key in the config', _listed("routes", names)),
        )
    )


def _recipe_of_route(route: Route, catalog: Catalog) -> Owned[RecipeSpec] | None:
    """Return the one declared recipe class that lives in the route's module."""
    specs = dict.fromkeys(o for o in catalog.recipes.values() if o.spec.target.partition(":")[0] == route.recipe)
    return next(iter(specs)) if len(specs) == 1 else None


def _listed(what: str, names: Iterable[str]) -> str:
    return f"installed {what}: " + (", ".join(f"`{name}`" for name in dict.fromkeys(names)) or "none")
