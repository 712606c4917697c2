"""The cross-checks of a config that is about to be run: the files that it names, the sections that its recipe reads."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from automodel_core.config.rules import Rule, Situation
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.plugins.catalog import Catalog
from automodel_core.plugins.choosing import recipe_of_document, unread_sections
from automodel_core.plugins.loading import find_recipe
from automodel_core.plugins.ownership import Owned
from automodel_core.preflight.places import checkpoint_directory, checkpoint_to_restore, data_files, model_directory
from automodel_core.preflight.weight_names import adapted_layers, frozen_parameters
from automodel_core.specs import RecipeSpec

MODEL_RULES: tuple[Rule, ...] = (
    Rule(model_directory, reads=("model", "restore_from")),
    Rule(adapted_layers, reads=("model", "peft")),
    Rule(frozen_parameters, reads=("model", "freeze", "peft")),
)
"""What the model's files say."""

RESTORE_RULES: tuple[Rule, ...] = (Rule(checkpoint_to_restore, reads=("restore_from", "checkpoint")),)
DATA_RULES: tuple[Rule, ...] = (Rule(data_files),)
"""Whether data are there, for a run that reads them."""
OUTPUT_RULES: tuple[Rule, ...] = (Rule(checkpoint_directory, reads=("restore_from", "checkpoint")),)
"""Whether results can be written, for a run that trains."""


def sections_rule(catalog: Catalog, recipe: Owned[RecipeSpec] | None = None, route: str | None = None) -> Rule:
    """Return the rule that the recipe reads every section.

    The recipe is the one that the config names, else ``recipe``, else that of ``route`` or of the model's plugin.
    """

    def sections_are_read(situation: Situation) -> Iterator[Diagnostic]:
        config = situation.config
        found = recipe if config.recipe is None and recipe is not None else None
        found = found or recipe_of_document(config.document.to_data(), route, catalog) or recipe
        yield from [] if found is None else unread_sections(config, found, catalog)

    return Rule(sections_are_read)


def recipe_rule(catalog: Catalog) -> Rule:
    """Return the rule that somebody declares the recipe that the config names."""

    def recipe_is_known(situation: Situation) -> Iterator[Diagnostic]:
        name = situation.config.recipe
        if name is None:
            return
        try:
            find_recipe(name, catalog, situation.config.span("recipe"))
        except InputError as error:
            yield from error.diagnostics

    return Rule(recipe_is_known)


def places_rules(catalog: Catalog) -> tuple[Rule, ...]:
    """Return the rules about files, as far as the recipe that the config is for uses what they are about."""
    return (
        *MODEL_RULES,
        *RESTORE_RULES,
        *(_for_recipes_with("dataset", rule, catalog) for rule in DATA_RULES),
        *(_for_recipes_with("optimizer", rule, catalog) for rule in OUTPUT_RULES),
    )


def _for_recipes_with(section: str, rule: Rule, catalog: Catalog) -> Rule:
    """Return ``rule`` for recipes that need ``section``, and for configs whose recipe is not known."""

    def check(situation: Situation) -> Iterator[Diagnostic]:
        found = recipe_of_document(situation.config.document.to_data(), None, catalog)
        yield from rule.check(situation) if found is None or section in found.spec.requires else ()

    return attrs.evolve(rule, check=check)
