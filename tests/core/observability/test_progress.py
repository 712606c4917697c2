"""What the status line says, in any width."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automodel_core.observability.glyphs import ASCII, BLOCKS
from automodel_core.observability.progress import Progress, Status, duration, status_text

STATUS = Status(
    step=12,
    total_steps=60,
    losses=(3.0, 2.5, 2.0),
    lr=2e-4,
    tokens_per_second=12345.6,
    memory_gib=1.5,
    seconds_left=75.0,
)


def test_a_wide_terminal_shows_everything() -> None:
    text = status_text(STATUS, 120, BLOCKS)
    assert text == "step 12/60 · loss 2.0000 █▅▁ · lr 2.00e-04 · 12,346 tok/s · 1.50 GiB · 1:15 left"


def test_what_matters_less_is_left_out_first() -> None:
    shown = [status_text(STATUS, width, ASCII) for width in (80, 79, 68, 54, 39, 35, 12)]
    parts = ("GiB", "lr ", "tok/s", "@+.", "left", "loss 2.0000")
    assert [sum(part in text for text in shown) for part in parts] == [1, 2, 3, 4, 5, 6]
    assert shown[-1] == "step 12/60 >"


@given(
    st.integers(1, 150),
    st.floats(0, 1e9),
    st.lists(st.floats(0, 1e6), min_size=1, max_size=400),
    st.none() | st.floats(0, 1e7),
    st.sampled_from([BLOCKS, ASCII]),
)
def test_the_line_never_exceeds_its_width(
    width: int, speed: float, losses: list[float], left: float | None, glyphs: Any
) -> None:
    status = attrs.evolve(STATUS, tokens_per_second=speed, losses=tuple(losses), seconds_left=left)
    assert len(status_text(status, width, glyphs)) <= width


def test_before_the_first_step_there_is_no_status() -> None:
    assert Progress().status(10) is None


def test_the_time_left_is_that_of_a_usual_step_without_validations(sample: Any) -> None:
    progress = Progress()
    progress.resume(0.0)
    progress.step_done(sample(1), 30.0)
    for step in (2, 3, 4):
        progress.step_done(sample(step), 30.0 + 2.0 * (step - 1))
    progress.resume(1000.0)
    progress.step_done(sample(5), 1002.0)
    status = progress.status(15)
    assert status is not None
    assert status.seconds_left == pytest.approx(20.0)


def test_the_curve_is_of_the_last_steps(sample: Any) -> None:
    progress = Progress()
    for step in range(1, 1001):
        progress.step_done(sample(step, float(step)), float(step))
    status = progress.status(1000)
    assert status is not None
    assert status.losses[-1] == 1000.0
    assert 100 <= len(status.losses) < 1000
    assert status.seconds_left == 0.0


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (59.6, "1:00"), (75, "1:15"), (3675, "1:01:15")])
def test_durations_read_like_a_clock(seconds: float, text: str) -> None:
    assert duration(seconds) == text
