"""The loss curve as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automodel_core.observability.glyphs import ASCII, BLOCKS
from automodel_core.observability.history import Curve, History
from automodel_core.observability.loss_chart import ROWS, loss_chart


def history(*losses: float, **validation: Curve) -> History:
    return History(loss=Curve(tuple(range(1, len(losses) + 1)), losses), validation=validation)


def test_without_a_step_there_is_nothing_to_draw() -> None:
    assert loss_chart(History(), 80, BLOCKS) == []


def test_a_falling_loss_falls_from_the_top_left_to_the_bottom_right() -> None:
    lines = loss_chart(history(*(8.0 - step for step in range(8))), 40, BLOCKS)
    rows = [line.partition("┤")[2] or line.partition("│")[2] for line in lines[1 : ROWS + 1]]
    assert lines[0] == "loss"
    assert lines[1].startswith("8.0000 ┤█")
    assert lines[ROWS].startswith("1.0000 ┤█")
    assert [len(row) for row in rows] == sorted(len(row) for row in rows)
    assert lines[ROWS + 1].split() == ["step", "1", "8"]


@given(
    st.lists(st.floats(0, 1e5), min_size=1, max_size=300),
    st.integers(40, 120),
    st.sampled_from([BLOCKS, ASCII]),
)
def test_no_line_is_wider_than_asked(losses: list[float], width: int, glyphs: object) -> None:
    lines = loss_chart(history(*losses), width, glyphs)  # type: ignore[arg-type]
    assert len(lines) == ROWS + 2
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("curve", "line"),
    [
        (Curve((5,), (2.0,)), "held_out: 2.0000 at step 5"),
        (Curve((5, 10), (2.0, 1.0)), "held_out: 2.0000 at step 5, 1.0000 at step 10"),
        (
            Curve((5, 10, 15), (2.0, 1.0, 1.5)),
            "held_out: 2.0000 at step 5, lowest 1.0000 at step 10, 1.5000 at step 15",
        ),
    ],
)
def test_validation_is_told_below_with_its_name_and_lowest(curve: Curve, line: str) -> None:
    assert loss_chart(history(3.0, 2.0, held_out=curve), 60, BLOCKS)[-1] == line
