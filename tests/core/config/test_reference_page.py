"""The reference page says what the sections say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import attrs
import pytest

from automodel_core.config import load_yaml
from automodel_core.config.reference import renewed_page
from automodel_core.config.schemas import load_schema
from automodel_core.config.spellings import CORE_KEY_ALIASES
from automodel_core.config.vocabulary import CORE_SECTIONS
from automodel_core.specs import SectionSpec

PAGE = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    assert renewed_page(PAGE) == PAGE, "run `python -m automodel_core.config.reference docs/configuration.md`"


@pytest.mark.parametrize("spec", [spec for spec in CORE_SECTIONS if spec.schema], ids=lambda spec: spec.key)
def test_every_field_of_every_section_stands_on_the_page_with_its_default(spec: SectionSpec) -> None:
    section = PAGE.partition(f"### `{spec.key}`\n")[2].partition("\n### ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| .*? \| `([^`]*)` \| ", section, flags=re.MULTILINE))
    schema: Any = load_schema(spec.schema)
    assert {name: load_yaml(default) for name, default in rows.items()} == attrs.asdict(schema())


def test_every_component_section_and_alias_stands_on_the_page() -> None:
    for spec in CORE_SECTIONS:
        assert f"### `{spec.key}`" in PAGE
    for alias in CORE_KEY_ALIASES:
        assert f"| `{alias.old}` | `{alias.new}` |" in PAGE
