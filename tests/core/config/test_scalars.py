"""Scalars follow YAML 1.2's core schema."""

from __future__ import annotations

import math

import pytest

from automodel_core.config.scalars import NumberTooLongError, is_number_text, resolve_scalar


@pytest.mark.parametrize("text", ["1e-5", "1E-5", "1.e-5", "0.00001", "+1e-5", ".1e-4", "10e-6"])
def test_an_exponent_makes_a_float_with_or_without_a_dot(text: str) -> None:
    value = resolve_scalar(text)
    assert type(value) is float
    assert value == pytest.approx(1e-5, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("-12", -12), ("+7", 7), ("017", 17), ("0o17", 15), ("0xFf", 255)]
)
def test_integers_in_three_bases(text: str, value: int) -> None:
    assert resolve_scalar(text) == value
    assert type(resolve_scalar(text)) is int


@pytest.mark.parametrize("text", ["on", "off", "yes", "no", "Yes", "y", "n", "1_000", "12:30:45", "2024-01-01", "0b1"])
def test_what_yaml_1_1_converts_stays_text(text: str) -> None:
    assert resolve_scalar(text) == text


@pytest.mark.parametrize(
    "text", ["none", "None", "nan", "inf", "-", "+", ".", "e5", "1e", "0x", "-0x1", "tRue", "1.2.3"]
)
def test_what_only_looks_like_a_value_stays_text(text: str) -> None:
    assert resolve_scalar(text) == text


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_null_words(text: str) -> None:
    assert resolve_scalar(text) is None


@pytest.mark.parametrize(("text", "value"), [("true", True), ("True", True), ("FALSE", False)])
def test_boolean_words(text: str, value: bool) -> None:
    assert resolve_scalar(text) is value


def test_infinities_and_nan() -> None:
    assert resolve_scalar(".inf") == math.inf
    assert resolve_scalar("-.INF") == -math.inf
    assert math.isnan(resolve_scalar(".NaN"))  # type: ignore[arg-type]


def test_a_number_of_more_than_a_thousand_digits_is_refused() -> None:
    with pytest.raises(NumberTooLongError):
        resolve_scalar("9" * 1001)
    assert not is_number_text("9" * 1001)
    assert resolve_scalar("x" * 5000) == "x" * 5000
