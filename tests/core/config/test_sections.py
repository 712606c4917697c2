"""Typed sections: strict, complete, and every problem at its place."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from automodel_core.config import load_run_config
from automodel_core.config.schemas import load_schema
from automodel_core.config.sections import Dataloader, Peft
from automodel_core.config.vocabulary import CORE_SECTIONS
from automodel_core.errors import InputError


def loaded(section: str, data: Any) -> Any:
    """Return one section of a config that has only that."""
    return getattr(load_run_config({section: data}, required=()), section)


@pytest.mark.parametrize(
    ("line", "code", "column", "words"),
    [
        ("rng: {seed: 'abc'}", "AM142", 13, "integer"),
        ("rng: {seed: '42'}", "AM142", 13, "`seed: 42`"),
        ("rng: {seed: 42.0}", "AM142", 13, "`seed: 42`"),
        ("rng: {seed: 1e3}", "AM142", 13, "`seed: 1000`"),
        ("rng: {seed: true}", "AM142", 13, "integer"),
        ("rng: {seed: null}", "AM142", 13, "null"),
        ("rng: {seed: 1_000}", "AM142", 13, "`seed: 1000`"),
        ("rng: {seed: [1]}", "AM142", 13, "a list"),
        ("rng: {seed: -1}", "AM143", 13, "0"),
        ("rng: {sed: 1}", "AM141", 7, "`seed`"),
        ("rng: {0: 1}", "AM141", 7, "`seed`"),
        ("rng: {_target_: a.b}", "AM210", 17, "remove `_target_`"),
        ("clip_grad_norm: {max_norm: '1e-5'}", "AM142", 28, "`max_norm: 1e-5`"),
        ("clip_grad_norm: {max_norm: 0}", "AM143", 28, "more than 0"),
        ("clip_grad_norm: {max_norm: .nan}", "AM142", 28, "a number or null"),
        ("compile: {enabled: yes}", "AM142", 20, "`enabled: true`"),
        ("compile: {enabled: 'off'}", "AM142", 20, "`enabled: false`"),
        ("compile: {enabled: 1}", "AM142", 20, "`true` or `false`"),
        ("compile: {backend: 3}", "AM142", 20, "`backend: '3'`"),
        ("distributed: {strategy: fsdp}", "AM142", 25, "`fsdp2`"),
        ("distributed: {dp_size: automatic}", "AM142", 24, "`auto`"),
        ("distributed: {dp_size: 0}", "AM143", 24, "at least 1"),
        ("peft: {dropout: 1.0}", "AM143", 17, "less than 1"),
        ("peft: {target_modules: [a, 3]}", "AM142", 28, "text"),
        ("peft: true", "AM145", 7, "`peft: {}`"),
        ("peft: [1]", "AM145", 7, "mapping"),
        ("freeze: {patterns: '*.embed*'}", "AM142", 20, "list"),
        ("freeze: {patterns: [a, 3]}", "AM142", 24, "`'3'`"),
        ("checkpoint: {max_shard_size: 5 pounds}", "AM143", 30, "`5GB`"),
        ("dist_env: {master_port: 70000}", "AM143", 25, "65535"),
        ("stepscheduler: {max_steps: 8}", "AM140", 1, "`step_scheduler`"),
        ("max_steps: 8", "AM140", 1, "`step_scheduler.max_steps`"),
        ("something_else: 8", "AM140", 1, "`x-something_else`"),
        ("recipe: [a]", "AM142", 9, "name"),
    ],
)
def test_a_mistake_is_reported_at_its_value_or_key_with_what_to_type(
    problems: Any, line: str, code: str, column: int, words: str
) -> None:
    (found,) = problems(f"# a comment\n{line}\n")
    assert (found.code, found.span.line, found.span.column) == (code, 2, column)
    assert words in " ".join((found.message, *found.helps))


def test_all_problems_come_at_once_in_the_order_of_the_file(problems: Any) -> None:
    text = "rng: {seed: x}\nnonsense: 1\nstep_scheduler:\n  max_steps: 1.5\n  max_step: 2\n  log_interval: 0\n"
    found = problems(text, "--compile.enabled", "maybe", "--compile.enabld", "true")
    assert [(d.code, d.span.line) for d in found] == [
        ("AM142", 1),
        ("AM140", 2),
        ("AM142", 4),
        ("AM141", 5),
        ("AM143", 6),
        ("AM111", 1),
        ("AM142", 1),
    ]


def test_a_thousand_unknown_keys_are_reported_as_a_hundred(problems: Any) -> None:
    assert len(problems("\n".join(f"key{n}: 1" for n in range(1000)))) == 100
    assert len(problems("rng:\n" + "\n".join(f"  key{n}: 1" for n in range(1000)))) == 100


def test_an_integer_may_stand_for_a_float_and_nothing_else_converts() -> None:
    assert loaded("peft", {"alpha": 32}).alpha == 32.0
    assert type(loaded("peft", {"alpha": 32}).alpha) is float
    assert loaded("tokenizer", {"name_or_path": "1e-5"}).name_or_path == "1e-5"


@pytest.mark.parametrize("word", ["none", "None", "null", "~", ""])
def test_unquoted_none_is_null_only_where_null_is_allowed(problems: Any, word: str) -> None:
    assert problems(f"step_scheduler: {{max_steps: {word}}}") == ()
    if word in ("none", "None"):
        assert problems(f"rng: {{seed: {word}}}")[0].code == "AM142"
        assert problems(f"step_scheduler: {{max_steps: '{word}'}}")[0].code == "AM142"


def test_none_stays_a_word_where_it_is_a_choice_or_text() -> None:
    assert loaded("distributed", {"dp_size": "none"}).dp_size == "none"
    assert loaded("dist_env", {"backend": "none"}).backend == "none"
    assert type(loaded("dist_env", {"backend": "none"}).backend) is str


def test_a_union_keeps_the_kind_that_was_written() -> None:
    assert loaded("peft", {"target_modules": "q_proj"}).target_modules == "q_proj"
    assert loaded("peft", {"target_modules": ["q_proj"]}).target_modules == ["q_proj"]
    assert loaded("distributed", {"dp_size": 4}).dp_size == 4


def test_a_null_section_is_absent_and_an_empty_one_is_given() -> None:
    absent = load_run_config({"peft": None}, required=())
    given = load_run_config({"peft": {}}, required=())
    assert not absent.given("peft")
    assert given.given("peft")
    assert given.peft == Peft()


def test_a_section_made_in_python_is_checked_too() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Dataloader(batch_size=0)


def test_every_field_of_every_section_is_documented_and_frozen() -> None:
    for spec in CORE_SECTIONS:
        assert spec.summary
        if not spec.component:
            schema: Any = load_schema(spec.schema)
            assert all(field.metadata["doc"] for field in attrs.fields(schema))
            with pytest.raises(attrs.exceptions.FrozenInstanceError):
                setattr(schema(), attrs.fields(schema)[0].name, 1)


def test_missing_sections_are_each_named() -> None:
    with pytest.raises(InputError) as raised:
        load_run_config({"rng": {}})
    assert [d.code for d in raised.value.diagnostics] == ["AM144"] * 3
