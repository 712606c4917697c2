"""What a run says where nobody watches: plain lines."""

from __future__ import annotations

import io

import pytest

import automodel_core as am
from automodel_core.observability.views import LiveView, PlainView, choose_view


def rows(config, capfd) -> list[str]:
    am.run(config, route="finetune llm")
    return capfd.readouterr().err.splitlines()


def test_steps_validations_and_checkpoints_are_lines_of_keys_and_values(watched_config, capfd):
    said = rows(watched_config, capfd)
    shown = [row.split() for row in said if row.startswith("step=")]
    assert [row[0] for row in shown] == ["step=1/6", "step=2/6", "step=4/6", "step=6/6"]
    assert [pair.partition("=")[0] for pair in shown[0]] == ["step", "epoch", "loss", "grad_norm", "lr", "mem", "tps"]
    assert [row.split()[1] for row in said if row.startswith("validation: ")] == ["step=3", "step=6"]
    assert f"checkpoint: step=6 directory={watched_config['checkpoint']['directory']}/step-6" in said
    assert "\x1b" not in "".join(said)


def test_the_curve_is_printed_only_where_it_is_asked_for(watched_config, capfd):
    assert "loss" not in rows(watched_config, capfd)
    watched_config["checkpoint"]["directory"] += "-again"
    watched_config["logging"] = {"curve": True}
    said = rows(watched_config, capfd)
    curve = said[said.index("loss") :]
    assert "step 1" in curve[9]
    assert curve[10].startswith("validation: ")
    assert curve[11] == "run finished"


def test_at_the_end_it_says_where_the_record_is(watched_config, capfd, metrics):
    assert f"record: {metrics}" in rows(watched_config, capfd)[-1]
    watched_config["checkpoint"]["directory"] += "-again"
    watched_config["logging"] = {"jsonl": False, "curve": True}
    said = rows(watched_config, capfd)
    assert said[-1] == "run finished"
    assert "loss" not in said


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "term", "view"),
    [(Terminal(), "xterm", LiveView), (Terminal(), "dumb", PlainView), (io.StringIO(), "xterm", PlainView)],
)
def test_only_a_terminal_that_can_redraw_gets_the_live_view(monkeypatch, stream, term, view):
    monkeypatch.setenv("TERM", term)
    chosen = choose_view(stream)
    chosen.close()
    assert type(chosen) is view
