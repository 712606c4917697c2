"""The files that a run is about to use, as far as the core's own builders are what uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from automodel_core.config.load import without_echoes
from automodel_core.config.rules import Situation, apply_rules
from automodel_core.diagnostics import Diagnostic
from automodel_core.preflight.run_rules import DATA_RULES, MODEL_RULES, OUTPUT_RULES, RESTORE_RULES
from automodel_core.training.examination import answered_by_core

if TYPE_CHECKING:
    from automodel_core.training.recipe import BaseRecipe


def all_problems(recipe: BaseRecipe) -> list[Diagnostic]:
    """Return everything that can be known to be wrong with a run of ``recipe`` before weights are read.

    What both depths say in the same words is said where the config names the file.
    """
    of_files = problems_of_files(recipe)
    said = {(problem.code, problem.message) for problem in of_files}
    others = [problem for problem in recipe.check() if (problem.code, problem.message) not in said]
    return without_echoes([*others, *of_files])


def problems_of_files(recipe: BaseRecipe) -> list[Diagnostic]:
    """Return what is wrong with the files that the config names. A part that somebody else builds is theirs."""
    host = recipe.host
    rules = [
        *(MODEL_RULES if answered_by_core(host, "build_model") else ()),
        *RESTORE_RULES,
        *(DATA_RULES if "train" in recipe.splits and answered_by_core(host, "build_dataset") else ()),
        *(OUTPUT_RULES if recipe.trains and answered_by_core(host, "build_checkpoint_config") else ()),
    ]
    return [found for found in apply_rules(rules, Situation(recipe.config), frozenset()) if found.severity == "error"]
