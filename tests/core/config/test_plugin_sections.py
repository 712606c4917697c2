"""Typed sections that plugins add: nested classes, mappings, required fields, checks across fields."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from automodel_core.config import Vocabulary, core_vocabulary, load_run_config
from automodel_core.config.options import POSITIVE, option
from automodel_core.errors import InputError
from automodel_core.specs import SectionSpec


@attrs.frozen
class Inner:
    size: int = option(1, "A size.", POSITIVE)


@attrs.frozen
class Teacher:
    name: str
    inner: Inner = attrs.field(factory=Inner)
    scheme: dict[str, int] = attrs.field(factory=dict)
    pairs: tuple[int, ...] = ()
    several: list[Inner] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        if self.name == "self":
            raise ValueError("a teacher cannot teach itself")


@pytest.fixture
def vocabulary() -> Vocabulary:
    spec = SectionSpec("teacher", f"{__name__}:Teacher", "A teacher.")
    return core_vocabulary().with_plugins(sections={"teacher": spec})


def test_nested_values_are_structured(vocabulary: Vocabulary) -> None:
    data = {"name": "t", "inner": {"size": 3}, "scheme": {"a": 1}, "pairs": [1, 2], "several": [{"size": 2}]}
    config = load_run_config({"teacher": data}, (), vocabulary, required=())
    assert config.teacher == Teacher("t", Inner(3), {"a": 1}, (1, 2), [Inner(2)])


def test_an_absent_section_with_a_required_field_is_none(vocabulary: Vocabulary) -> None:
    assert load_run_config({}, (), vocabulary, required=()).teacher is None


def test_an_override_reaches_into_a_nested_class(vocabulary: Vocabulary) -> None:
    config = load_run_config({"teacher": {"name": "t"}}, ("teacher.inner.size=4",), vocabulary, required=())
    assert config.teacher.inner.size == 4


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        ({}, "AM145", "`teacher.name` is missing"),
        ({"name": "self"}, "AM143", "cannot teach itself"),
        ({"name": "t", "inner": {"size": 0}}, "AM143", "`teacher.inner.size`"),
        ({"name": "t", "inner": {"sise": 1}}, "AM141", "`teacher.inner`"),
        ({"name": "t", "inner": 3}, "AM142", "a mapping"),
        ({"name": "t", "scheme": {"a": "x"}}, "AM142", "`teacher.scheme.a`"),
        ({"name": "t", "scheme": [1]}, "AM142", "a mapping"),
        ({"name": "t", "pairs": [1, "x"]}, "AM142", "`teacher.pairs[1]`"),
        ({"name": "t", "several": [{"size": 1}, {"size": 0}]}, "AM143", "`teacher.several[1].size`"),
    ],
)
def test_problems_name_the_whole_path(vocabulary: Vocabulary, data: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        load_run_config({"teacher": data}, (), vocabulary, required=())
    (found,) = raised.value.diagnostics
    assert found.code == code
    assert words in found.message
