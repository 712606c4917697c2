"""A real run on a real terminal."""

from __future__ import annotations

import json
import re

import pytest

SLOW_STEPS = """
import sys, time, warnings
import automodel_core as am


class Slow:
    @am.hookimpl
    def step_finished(self, sample):
        time.sleep(0.15)
        if sample.step == 2:
            print("said on stdout")
            warnings.warn("said as a warning")
        if sample.step == 4:
            sys.stderr.write("said in ")
            sys.stderr.write("pieces\\n")


plugins = [Slow()]
"""

BROKEN_STEP = """
import automodel_core as am


class Broken:
    @am.hookimpl(wrapper=True)
    def forward_backward(self, run):
        loss = yield
        if run.scheduler.step == 3:
            raise {error}("the third step broke")
        return loss


plugins = [Broken()]
"""


@pytest.fixture
def many_steps(watched_config):
    watched_config["step_scheduler"] |= {"max_steps": 200, "num_epochs": 100, "val_check_interval": 100}


def test_one_line_is_redrawn_in_place_and_all_else_stands_above_it(run_in_terminal):
    run = run_in_terminal(SLOW_STEPS, columns=110)
    assert run.exit_code == 0
    assert len(run.drawings) >= 5
    assert re.fullmatch(
        r"step 6/6 · loss \d\.\d{4} [▁-█]+ · lr 1\.00e-03 · [\d,]+ tok/s · \d\.\d\d GiB · 0:00 left", run.drawings[-1]
    )
    assert not [row for row in run.rows if row.startswith("step ")]
    for line in ("said on stdout", "said in pieces", "run finished"):
        assert run.rows.count(line) == 1
    assert [row for row in run.rows if "UserWarning: said as a warning" in row]
    assert [row.split()[:2] for row in run.rows if row.startswith("validation:")][:2] == [
        ["validation:", "step=3"],
        ["validation:", "step=6"],
    ]
    assert not [row for row in run.rows if row.startswith("step=")]


def test_the_loss_curve_comes_at_the_end_and_the_cursor_is_on_a_line_of_its_own(run_in_terminal, metrics):
    run = run_in_terminal()
    end = run.rows[run.rows.index("loss") :]
    assert re.match(r"\d\.\d{4} ┤", end[1])
    assert "run finished" in end
    assert str(metrics) in end[-2]
    assert end[-1] == ""


def test_redrawing_keeps_to_ten_times_a_second(run_in_terminal, many_steps):
    run = run_in_terminal()
    assert run.exit_code == 0
    assert 1 <= len(run.drawings) <= 10 * run.seconds + 1
    assert len(run.drawings) < 200


def test_the_line_follows_the_width_of_the_terminal(run_in_terminal):
    run = run_in_terminal(SLOW_STEPS, columns=110, columns_later=40)
    assert len(run.drawings[0]) > 40
    assert len(run.drawings[-1]) < 40
    assert run.drawings[-1].endswith("left")


@pytest.mark.parametrize("error", ["RuntimeError", "KeyboardInterrupt"])
def test_a_run_that_fails_leaves_the_terminal_as_it_was(run_in_terminal, metrics, error):
    run = run_in_terminal(BROKEN_STEP.format(error=error))
    assert run.exit_code == (130 if error == "KeyboardInterrupt" else 1)
    assert not [row for row in run.rows if row.startswith("step ")]
    assert "run failed" in run.rows
    assert run.rows[-1] == ""
    assert "\x1b[?25l" not in run.output
    last = json.loads(metrics.read_text().splitlines()[-1])
    assert (last["event"], last["outcome"]) == ("run_finished", "failed")


def test_no_color_leaves_out_colours_only(run_in_terminal):
    run = run_in_terminal(NO_COLOR="1")
    assert run.drawings
    assert set(re.findall(r"\x1b[^A-Za-z]*[A-Za-z]", run.output)) == {"\x1b[K"}


def test_a_dumb_terminal_gets_plain_lines(run_in_terminal):
    run = run_in_terminal(TERM="dumb")
    assert "\x1b" not in run.output
    assert [row.split()[0] for row in run.rows if row.startswith("step=")] == [
        "step=1/6",
        "step=2/6",
        "step=4/6",
        "step=6/6",
    ]
