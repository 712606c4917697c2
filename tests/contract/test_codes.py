"""Every code of a diagnostic stands in the one table, and every code of the table is used."""

from __future__ import annotations

import re
from pathlib import Path

from automodel_core.diagnostics.codes import CODES

SOURCES = sorted((Path(__file__).parents[2] / "packages").glob("*/src/**/*.py"))
CODE = re.compile(r'"(AM\d{3})"')


def used_codes() -> dict[str, str]:
    return {
        code: path.name
        for path in SOURCES
        if path.name != "codes.py"
        for code in CODE.findall(path.read_text(encoding="utf-8"))
    }


def test_every_code_has_a_title() -> None:
    assert {code: where for code, where in used_codes().items() if code not in CODES} == {}


def test_every_title_has_a_use() -> None:
    assert [code for code in CODES if code not in used_codes()] == []
