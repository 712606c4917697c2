"""Bars that stand for numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automodel_core.observability.glyphs import ASCII, BLOCKS, glyphs_for, heights, resampled, sparkline

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200)


@given(numbers, st.integers(1, 50))
def test_resampling_keeps_the_range_and_never_gives_more_than_asked(values: list[float], count: int) -> None:
    shorter = resampled(values, count)
    assert len(shorter) == min(len(values), count)
    assert min(values) - 1e-6 <= min(shorter) <= max(shorter) <= max(values) + 1e-6


def test_each_resampled_value_is_the_mean_of_its_share() -> None:
    assert resampled([1, 3, 5, 7, 10], 2) == [2.0, 22 / 3]


@given(numbers, st.integers(1, 64))
def test_heights_follow_the_order_of_the_values(values: list[float], levels: int) -> None:
    found = heights(values, levels)
    assert all(1 <= height <= levels for height in found)
    by_value = [height for _, height in sorted(zip(values, found, strict=True))]
    assert by_value == sorted(by_value)


def test_the_lowest_and_the_highest_value_take_the_first_and_the_last_bar() -> None:
    assert sparkline([3.0, 1.0, 2.0], 10, BLOCKS) == "█▁▅"


def test_a_flat_course_is_in_the_middle_and_an_empty_one_is_empty() -> None:
    assert sparkline([2.0, 2.0], 10, BLOCKS) == "▄▄"
    assert sparkline([], 10, BLOCKS) == ""


@pytest.mark.parametrize(
    ("encoding", "glyphs"), [("utf-8", BLOCKS), ("ascii", ASCII), ("latin-1", ASCII), (None, ASCII)]
)
def test_an_output_without_block_characters_gets_ascii(encoding: str | None, glyphs: object) -> None:
    assert glyphs_for(encoding) is glyphs


def test_ascii_is_ascii() -> None:
    assert "".join((ASCII.bars, ASCII.axis, ASCII.tick, ASCII.separator, ASCII.ellipsis)).isascii()
