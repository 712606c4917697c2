"""``loss.png``: the curves of a run as a picture beside its record, where matplotlib is installed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from automodel_core.hookspecs import hookimpl
from automodel_core.observability.history import History, read_history, smoothed
from automodel_core.observability.json_lines import metrics_path
from automodel_core.observability.optional_packages import is_installed

if TYPE_CHECKING:
    from automodel_core.training.run_state import RunState

PLOT_FILE: Final = "loss.png"
_SMALLEST_WINDOW, _LARGEST_WINDOW = 5, 200


class LossPlot:
    """Draws ``loss.png`` when a run ends, however it ends, from the JSON lines: a resumed run has its whole curve."""

    def __init__(self) -> None:
        self._metrics: Path | None = None

    @hookimpl
    def run_started(self, run: RunState) -> None:
        logging = run.config.logging
        self._metrics = metrics_path(run) if logging.jsonl and logging.plot else None

    @hookimpl
    def run_finished(self, outcome: str) -> None:
        if self._metrics is None or not is_installed("matplotlib"):
            return
        history = read_history(self._metrics)
        if history.loss:
            draw_loss(history, self._metrics.with_name(PLOT_FILE))


def smoothing_window(steps: int) -> int:
    """Return over how many of ``steps`` steps the thick curve averages: an odd number."""
    return min(max(steps // 20, _SMALLEST_WINDOW), _LARGEST_WINDOW) | 1


def draw_loss(history: History, path: Path) -> None:
    """Write the picture to ``path``, replacing what is there; matplotlib's global state stays untouched."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), dpi=120, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    draw_curves(figure.add_subplot(), history)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        canvas.print_figure(partial, format="png")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def draw_curves(axes: Any, history: History) -> None:
    """Draw the training loss, thin and averaged, each validation set, and the learning rate on an axis of its own."""
    loss = history.loss
    window = smoothing_window(len(loss.steps))
    axes.plot(loss.steps, loss.values, color="tab:blue", linewidth=0.7, alpha=0.4, label="training, every step")
    averaged = f"training, mean of {window} steps"
    axes.plot(loss.steps, smoothed(loss.values, window), color="tab:blue", linewidth=1.8, label=averaged)
    for (name, curve), colour in zip(history.validation.items(), _colours(), strict=False):
        axes.plot(curve.steps, curve.values, color=colour, marker="o", markersize=4, linewidth=1.2, label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.grid(alpha=0.25)
    if history.lr:
        rates = axes.twinx()
        rates.plot(history.lr.steps, history.lr.values, color="tab:grey", linewidth=0.9, linestyle=":")
        rates.set_ylabel("learning rate", color="tab:grey", fontsize="small")
        rates.tick_params(axis="y", labelcolor="tab:grey", labelsize="small")
        rates.set_ylim(bottom=0)
    axes.legend(fontsize="small")


def _colours() -> list[str]:
    return ["tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown", "tab:pink", "tab:olive", "tab:cyan"]
