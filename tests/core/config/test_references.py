"""References to other keys and to the environment."""

from __future__ import annotations

from typing import Any

import pytest

from automodel_core.config.dump import dump_yaml
from automodel_core.config.references import escape_references, resolve_references
from automodel_core.config.source import read_yaml_text
from automodel_core.diagnostics import Diagnostic

ENVIRONMENT = {"LR": "1e-5", "NAME": "run 7", "EMPTY": ""}


def resolved(text: str) -> tuple[Any, tuple[Diagnostic, ...]]:
    """Return the data without references, and the problems."""
    done = resolve_references(read_yaml_text(text, "cfg.yaml"), ENVIRONMENT)
    return done.document.to_data(), done.problems


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${rng.seed}", 42),
        ("'${rng.seed}'", 42),
        ("${list[1].k}", "v"),
        ("${list.1.k}", "v"),
        ("${rng}", {"seed": 42}),
        ("${again.seed}", 42),
        ("${env:LR}", 1e-5),
        ("'${env:LR}'", "1e-5"),
        ("${oc.env:LR}", 1e-5),
        ("${env:NOPE,0.5}", 0.5),
        ("'${env:NOPE,0.5}'", "0.5"),
        ("${env:NOPE,}", None),
        ("${env:EMPTY,x}", None),
        ("runs/${env:NAME}/${rng.seed}", "runs/run 7/42"),
        ("a ${flag} ${nothing}", "a true null"),
        ("$${rng.seed}", "${rng.seed}"),
        ("x $${y} ${rng.seed}", "x ${y} 42"),
        ("costs $PRICE and $5", "costs $PRICE and $5"),
    ],
)
def test_a_reference_is_replaced_by_its_value(value: str, expected: object) -> None:
    text = f"a: {value}\nrng: {{seed: 42}}\nagain: '${{rng}}'\nlist: [1, {{k: v}}]\nflag: true\nnothing: ~\n"
    data, problems = resolved(text)
    assert problems == ()
    assert data["a"] == expected
    assert type(data["a"]) is type(expected)


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        ("${rng.sed}", "AM120", "`rng.seed`"),
        ("${rgn.seed}", "AM120", ""),
        ("${HOME}", "AM120", "`${env:HOME}`"),
        ("${env:NOPE}", "AM121", "`${env:NOPE,default}`"),
        ("${a}", "AM122", ""),
        ("${b}", "AM122", ""),
        ("x ${rng}", "AM123", ""),
        ("${rng.seed", "AM123", "`$${`"),
        ("${a..b}", "AM123", "`${section.key}`"),
        ("${}", "AM123", "`${section.key}`"),
    ],
)
def test_a_reference_that_cannot_be_resolved_is_a_problem_at_its_place(value: str, code: str, words: str) -> None:
    data, problems = resolved(f"a: '{value}'\nrng: {{seed: 42}}\nb: '${{c}}'\nc: '${{b}}'\n")
    mine = [p for p in problems if p.span is not None and p.span.line in (1, 3, 4)]
    assert mine[0].code == code
    assert words in " ".join(mine[0].helps)
    assert data["a"] == value


def test_a_missing_variable_names_the_key_that_needs_it() -> None:
    _, (problem,) = resolved("optimizer: {lr: '${env:NOPE}'}")
    assert "`optimizer.lr`" in problem.message
    assert "`NOPE`" in problem.message


def test_a_section_that_contains_a_reference_to_itself_is_a_circle() -> None:
    _, problems = resolved("a: {b: {c: '${a}'}}")
    assert [p.code for p in problems] == ["AM122"]


def test_a_sibling_in_the_same_section_is_not_a_circle() -> None:
    data, problems = resolved("a: {b: '${a.c}', c: 1}")
    assert problems == ()
    assert data == {"a": {"b": 1, "c": 1}}


def test_long_chains_and_multiplying_references_are_refused_and_not_followed() -> None:
    chain = "\n".join(f"k{n}: ${{k{n + 1}}}" for n in range(2000)) + "\nk2000: 1\n"
    assert "AM122" in {p.code for p in resolved(chain)[1]}
    text = "\n".join(f"k{n}: '${{k{n + 1}}}${{k{n + 1}}}'" for n in range(60)) + "\nk60: xxxxxxxx\n"
    assert "AM105" in {p.code for p in resolved(text)[1]}
    tree = "\n".join(f"k{n}: ['${{k{n + 1}}}', '${{k{n + 1}}}']" for n in range(60)) + "\nk60: x\n"
    assert {p.code for p in resolved(tree)[1]} <= {"AM105", "AM122"}
    assert resolved(tree)[1]


def test_escaped_text_survives_a_round_trip() -> None:
    data = {"a": ["${x}", {"b": "costs ${PRICE}"}], "c": 3}
    assert resolved(dump_yaml(escape_references(data)))[0] == data
