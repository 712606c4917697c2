"""Which recipe a config is for: the one that it names, the route's, or the one that trains its model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError
from automodel_core.plugins.catalog import Catalog
from automodel_core.plugins.loading import find_recipe
from automodel_core.plugins.ownership import Owned
from automodel_core.specs import RecipeSpec, Route

if TYPE_CHECKING:
    from automodel_core.config import RunConfig

DEFAULT_COMMAND: Final = "finetune"


def choose_recipe(
    config: RunConfig, route: str | None, catalog: Catalog
) -> tuple[Owned[RecipeSpec] | None, Owned[Route] | None]:
    """Return the recipe of a config, or ``None`` and the route that declares no recipe class.

    Raise :class:`InputError` for a recipe, a route or a model that no plugin declares.
    """
    if config.recipe is not None:
        return find_recipe(config.recipe, catalog, config.span("recipe")), None
    if route is not None:
        chosen = _named_route(route, catalog)
    else:
        candidates = _routes_of_model(config.model.target, catalog)
        if len(candidates) != 1:
            raise InputError(_unknown_recipe(config, catalog))
        chosen = candidates[0]
    return _recipe_of_route(chosen.spec, catalog), chosen


def needed_sections(
    document: Mapping[str, Any], route: str | None, catalog: Catalog, otherwise: Collection[str]
) -> Collection[str]:
    """Return the sections that the recipe of a document must have: one that evaluates needs no optimizer.

    ``document`` is plain data that nobody has checked. ``otherwise`` is the answer when no recipe is found, which
    :func:`choose_recipe` reports.
    """
    spec = recipe_of_document(document, route, catalog)
    return otherwise if spec is None else spec.spec.requires


def unread_sections(config: RunConfig, recipe: Owned[RecipeSpec], catalog: Catalog) -> list[Diagnostic]:
    """Return an error for every section of ``config`` that the recipe does not read: of another domain, or meaningless.

    Sections of plugins without routes are for their hooks, and may be in any config.
    """
    domains = {owned.plugin for owned in catalog.routes.values()}
    foreign = {
        key
        for key, owned in catalog.sections.items()
        if owned.plugin in domains and owned.plugin != recipe.plugin and key not in recipe.spec.also_reads
    }
    problems = []
    for key in (*foreign, *recipe.spec.never_reads):
        entry = config.document.entry_at((key,))
        if entry is None or not config.given(key):
            continue
        owner = f", since it is of `{catalog.sections[key].plugin}`" if key in catalog.sections else ""
        message = f"`{key}` has no effect: `{recipe.spec.name}` does not read it{owner}"
        helps = (f"remove it, or keep it as `x-{key}`",)
        problems.append(Diagnostic("AM146", message, entry.key_span, "no effect", helps))
    return problems


def declared_recipe(recipe_class: type, catalog: Catalog) -> Owned[RecipeSpec] | None:
    """Return the declaration of a recipe class, or ``None`` for one that nobody declares."""
    target = f"{recipe_class.__module__}:{recipe_class.__qualname__}"
    return next((owned for owned in catalog.recipes.values() if owned.spec.target == target), None)


def recipe_of_document(document: Mapping[str, Any], route: str | None, catalog: Catalog) -> Owned[RecipeSpec] | None:
    """Return the recipe that a document is for, as far as it says; ``None`` where it does not.

    ``document`` is plain data that nobody has checked.
    """
    recipe, model = document.get("recipe"), document.get("model")
    if recipe is not None:
        try:
            return find_recipe(str(recipe), catalog)
        except InputError:
            return None
    if route is not None:
        return _recipe_of_route(_named_route(route, catalog).spec, catalog)
    target = model.get("_target_") if isinstance(model, Mapping) else None
    routes = _routes_of_model(target, catalog) if isinstance(target, str) else []
    return _recipe_of_route(routes[0].spec, catalog) if len(routes) == 1 else None


def _named_route(route: str, catalog: Catalog) -> Owned[Route]:
    routes = {" ".join(key): owned for key, owned in catalog.routes.items()}
    name = " ".join(route.split())
    if name not in routes:
        helps = (*did_you_mean(name, routes), _listed("routes", routes))
        raise InputError(Diagnostic("AM621", f"there is no route `{name}`", helps=helps))
    return routes[name]


def _routes_of_model(target: str, catalog: Catalog) -> list[Owned[Route]]:
    """Return the routes of the plugin that declares the model's target: its only one, or the ``finetune`` ones."""
    class_name = target.rpartition(".")[0]  # the target may be a class method: `….from_pretrained`
    owner = catalog.targets.get(target) or catalog.targets.get(class_name)
    routes = list(dict.fromkeys(o for o in catalog.routes.values() if owner is not None and o.plugin == owner.plugin))
    return routes if len(routes) == 1 else [owned for owned in routes if owned.spec.command == DEFAULT_COMMAND]


def _recipe_of_route(route: Route, catalog: Catalog) -> Owned[RecipeSpec] | None:
    """Return the one declared recipe class that lives in the route's module."""
    specs = dict.fromkeys(o for o in catalog.recipes.values() if o.spec.target.partition(":")[0] == route.recipe)
    return next(iter(specs)) if len(specs) == 1 else None


def _unknown_recipe(config: RunConfig, catalog: Catalog) -> Diagnostic:
    names = [f"{owned.spec.command} {owned.spec.domain}" for owned in catalog.routes.values()]
    return Diagnostic(
        "AM621",
        f"which recipe trains `{config.model.target}` is not known",
        config.span("model._target_") or config.span("model"),
        helps=('say it: `route="finetune llm"`, or a `recipe:` key in the config', _listed("routes", names)),
    )


def _listed(what: str, names: Iterable[str]) -> str:
    return f"installed {what}: " + (", ".join(f"`{name}`" for name in dict.fromkeys(names)) or "none")
