"""Every name of other systems has one fate, and the page that lists them says which."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from automodel_core.config import Component, core_vocabulary
from automodel_core.config.compatibility import fate_of_target, read_names, renewed_page
from automodel_core.config.components import resolve_target
from automodel_core.config.schemas import load_schema
from automodel_core.plugins import Catalog
from automodel_core.plugins.loading import find_recipe, load_recipe_class

ROOT = Path(__file__).parents[3]
NAMES = read_names(ROOT / "tests" / "data" / "names_elsewhere.tsv")
CATALOG = Catalog.discover()
VOCABULARY = CATALOG.vocabulary()
OUTCOMES = ("resolved", "fallback", "not available")


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    command = "python -m automodel_core.config.compatibility tests/data/names_elsewhere.tsv docs/compatibility.md"
    assert renewed_page(page, NAMES, CATALOG) == page, f"run `{command}`"


def _provided() -> list[Any]:
    targets = [known.name for known in NAMES if known.kind == "target" and known.name not in CATALOG.recipes]
    return [(name, fate) for name in targets for fate in [fate_of_target(name, VOCABULARY)] if fate.ours]


@pytest.mark.parametrize(("name", "fate"), _provided(), ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_provided_can_be_imported_or_is_a_section(name: str, fate: Any) -> None:
    if fate.ours.startswith("the section"):
        section, *keys = fate.ours.split("`")[1].split(".")
        spec = VOCABULARY.sections[section]
        assert spec.component or keys or load_schema(spec.schema)
    else:
        assert resolve_target(Component(name), VOCABULARY) is resolve_target(Component(fate.ours), VOCABULARY) or (
            resolve_target(Component(name), VOCABULARY) == resolve_target(Component(fate.ours), VOCABULARY)
        )


def test_a_fallback_says_what_is_different() -> None:
    fates = [fate_of_target(known.name, VOCABULARY) for known in NAMES if known.kind == "target"]
    assert all(fate.note for fate in fates if fate.outcome == "fallback")
    assert {fate.outcome for fate in fates} == set(OUTCOMES)


def test_recipes_that_are_resolved_can_be_loaded() -> None:
    known = [name.name for name in NAMES if name.name in CATALOG.recipes]
    assert len(known) >= 4
    for name in known:
        assert isinstance(load_recipe_class(find_recipe(name, CATALOG)), type)


@pytest.mark.parametrize("name", ["torch.load", "torch.hub.load", "os.system", "nemo_automodel.no.such.Thing", "a.b"])
def test_nothing_else_is_resolved(name: str) -> None:
    assert fate_of_target(name, VOCABULARY).outcome == "not available"


def test_without_plugins_the_names_of_domains_are_not_available() -> None:
    assert fate_of_target("nemo_automodel.NeMoAutoModelForCausalLM", core_vocabulary()).outcome == "not available"
    assert importlib.util.find_spec("nemo_automodel") is None
