"""The table of codes is whole."""

from __future__ import annotations

import re
from pathlib import Path

from automodel_core.diagnostics import CODES, title_of

PACKAGES = Path(__file__).parents[3] / "packages"


def codes_in_sources() -> set[str]:
    """Return every code that a source file writes as a literal."""
    found: set[str] = set()
    for path in PACKAGES.glob("*/src/**/*.py"):
        if path.name != "codes.py":
            found.update(re.findall(r"[\"'](AM\d{3})[\"']", path.read_text(encoding="utf-8")))
    return found


def test_every_code_in_use_has_a_title() -> None:
    assert codes_in_sources() - set(CODES) == set()


def test_every_code_in_the_table_is_in_use() -> None:
    assert set(CODES) - codes_in_sources() == set()


def test_codes_have_the_form_and_titles_are_lower_case_phrases() -> None:
    for code, title in CODES.items():
        assert re.fullmatch(r"AM\d{3}", code)
        assert title
        assert title[0] != title[0].upper() or not title[0].isalpha()
        assert not title.endswith(".")
    assert title_of("AM102") == CODES["AM102"]
    assert title_of("AM000") is None
