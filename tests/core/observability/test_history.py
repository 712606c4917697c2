"""Curves read back from JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from automodel_core.observability.history import Curve, history_of, read_history, smoothed


def started(step: int) -> dict[str, Any]:
    return {"event": "run_started", "step": step}


def step(number: int, loss: float | str) -> dict[str, Any]:
    return {"event": "step", "step": number, "loss": loss, "lr": 0.1}


def validation(number: int, loss: float, name: str = "validation") -> dict[str, Any]:
    return {"event": "validation", "step": number, "loss": loss, "name": name}


def test_a_resumed_run_has_its_whole_curve_and_what_it_did_again_only_once() -> None:
    first = [started(0), step(1, 5.0), step(2, 4.0), validation(2, 4.5), step(3, 9.0), validation(3, 9.0)]
    history = history_of([*first, started(2), step(3, 3.0), step(4, 2.0)])
    assert history.loss == Curve((1, 2, 3, 4), (5.0, 4.0, 3.0, 2.0))
    assert history.validation == {"validation": Curve((2,), (4.5,))}


def test_a_new_run_in_the_same_file_takes_the_place_of_the_old_one() -> None:
    history = history_of([started(0), validation(0, 7.0), step(1, 5.0), step(2, 4.0), started(0), step(1, 3.0)])
    assert history.loss == Curve((1,), (3.0,))
    assert history.validation == {}


def test_each_validation_set_has_a_curve_of_its_own() -> None:
    history = history_of([started(0), validation(1, 2.0, "a"), validation(1, 3.0, "b"), validation(2, 1.0, "a")])
    assert history.validation == {"a": Curve((1, 2), (2.0, 1.0)), "b": Curve((1,), (3.0,))}


def test_a_line_that_a_crash_cut_short_and_values_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines = [json.dumps(record) for record in (started(0), step(1, 5.0), step(2, "nan"), step(3, "inf"))]
    path.write_text("\n".join([*lines, '{"event": "step", "st']), encoding="utf-8")
    assert read_history(path).loss == Curve((1,), (5.0,))


def test_without_a_file_there_is_no_curve(tmp_path: Path) -> None:
    assert not read_history(tmp_path / "metrics.jsonl").loss


def test_smoothing_keeps_a_straight_line_and_takes_out_what_swings() -> None:
    line = [float(value) for value in range(20)]
    assert smoothed(line, 5) == pytest.approx(line)
    assert max(smoothed([0.0, 1.0] * 20, 9)[4:-4]) < 0.6
    assert smoothed([], 5) == []
