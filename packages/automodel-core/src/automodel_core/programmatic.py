"""``automodel_core.run``: a run from Python, with any hook overridden by an object."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.errors import InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.choosing import choose_recipe, needed_sections
from automodel_core.plugins.grants import trusting
from automodel_core.plugins.loading import load_main, load_recipe_class

if TYPE_CHECKING:
    from automodel_core.training.recipe import BaseRecipe


def run(
    config: str | Path | Mapping[str, Any],
    overrides: Iterable[str] | Mapping[str, Any] = (),
    plugins: Iterable[object] = (),
    plugin_files: Iterable[str | Path] = (),
    route: str | None = None,
    trusted: Iterable[str] = (),
) -> Any:
    """Run the recipe of ``config`` and return the recipe object, with everything that was built in its ``run``.

    ``config`` is a YAML or TOML file, or a mapping. ``overrides`` are words as on the command line, or a mapping from
    dotted keys to values. ``plugins`` are objects whose ``@hookimpl`` methods answer before everybody else's.
    ``trusted`` are modules and Python files whose targets may be imported, as with ``--trust``. Which recipe: the
    ``recipe:`` key of the config, else ``route`` (``"finetune llm"``), else the ``finetune`` route of the plugin that
    declares the model's target. A route without a declared recipe class calls its module's ``main`` and returns what
    that returns.

    Raise :class:`InputError` for what cannot work; nothing is printed for it. A broken plugin is a warning.
    """
    if not isinstance(config, (str, os.PathLike, Mapping)):
        raise TypeError(f"`config` must be the path of a file or a mapping, not {type(config).__name__}")
    overrides = overrides if isinstance(overrides, Mapping) else tuple(overrides)
    with trusting(trusted):
        return _run(config, overrides, tuple(plugins), tuple(plugin_files), route)


def _run(
    config: str | Path | Mapping[str, Any],
    overrides: Sequence[str] | Mapping[str, Any],
    plugins: Sequence[object],
    plugin_files: Sequence[str | Path],
    route: str | None,
) -> Any:
    from automodel_core.config.load import REQUIRED_SECTIONS, load_run_config
    from automodel_core.config.rules import RULES
    from automodel_core.preflight.run_rules import sections_rule

    catalog = Catalog.discover()
    vocabulary = catalog.vocabulary()
    for problem in catalog.problems():
        warnings.warn(problem.message, stacklevel=3)
    loaded = load_run_config(
        config,
        overrides=overrides,
        vocabulary=vocabulary,
        required=lambda document: needed_sections(document, route, catalog, REQUIRED_SECTIONS),
        rules=(*RULES, sections_rule(catalog, route=route)),
    )
    spec, chosen = choose_recipe(loaded, route, catalog)
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
    spec, _ = choose_recipe(loaded, None, catalog)
    if spec is None:
        message = "the command of this config declares no recipe class, so that nothing can be built apart from a run"
        raise InputError(Diagnostic("AM319", message))
    return make_recipe(load_recipe_class(spec), config, overrides=overrides, plugin_files=plugin_files, catalog=catalog)
