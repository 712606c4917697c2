"""The picture at the end of a run."""

from __future__ import annotations

import struct
import sys

import pytest

import automodel_core as am
from automodel_core.observability.history import Curve, History, read_history
from automodel_core.observability.loss_plot import draw_curves, draw_loss, smoothing_window


def size_of_png(path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def test_a_run_leaves_a_picture_beside_its_record(watched_config, metrics):
    pytest.importorskip("matplotlib")
    am.run(watched_config, route="finetune llm")
    assert size_of_png(metrics.with_name("loss.png")) == (1080, 600)
    assert not [path for path in metrics.parent.iterdir() if path.name.startswith(".loss")]


def test_the_picture_of_a_resumed_run_has_the_whole_curve(watched_config, metrics):
    pytest.importorskip("matplotlib")
    am.run(watched_config, route="finetune llm")
    first = metrics.with_name("loss.png").read_bytes()
    watched_config["step_scheduler"]["max_steps"] = 9
    watched_config["restore_from"] = {"path": "latest"}
    am.run(watched_config, route="finetune llm")
    assert read_history(metrics).loss.steps == tuple(range(1, 10))
    assert metrics.with_name("loss.png").read_bytes() != first


def test_the_picture_shows_training_twice_validation_by_name_and_the_learning_rate(tmp_path):
    figure = pytest.importorskip("matplotlib.figure")
    history = History(
        loss=Curve((1, 2, 3), (3.0, 2.0, 1.0)),
        lr=Curve((1, 2, 3), (0.1,) * 3),
        validation={"held_out": Curve((2,), (2.5,))},
    )
    axes = figure.Figure().add_subplot()
    draw_curves(axes, history)
    labels = axes.get_legend_handles_labels()[1]
    assert labels == ["training, every step", "training, mean of 5 steps", "held_out"]
    assert [list(line.get_ydata()) for line in axes.lines] == [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [2.5]]
    (rates,) = [other for other in axes.figure.axes if other is not axes]
    assert rates.get_ylabel() == "learning rate"
    draw_loss(history, tmp_path / "loss.png")
    assert size_of_png(tmp_path / "loss.png")


def test_without_matplotlib_there_is_neither_a_picture_nor_a_word_of_it(watched_config, metrics, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    am.run(watched_config, route="finetune llm")
    assert not metrics.with_name("loss.png").exists()
    assert "matplotlib" not in capfd.readouterr().err.replace(str(metrics.parent), "")


def test_it_can_be_switched_off(watched_config, metrics):
    watched_config["logging"] = {"plot": False}
    am.run(watched_config, route="finetune llm")
    assert metrics.exists()
    assert not metrics.with_name("loss.png").exists()


@pytest.mark.parametrize(("steps", "window"), [(3, 5), (200, 11), (100_000, 201)])
def test_the_thick_curve_averages_over_a_twentieth_of_the_run(steps, window):
    assert smoothing_window(steps) == window
