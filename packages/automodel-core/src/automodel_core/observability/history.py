"""A run's curves, read back from its JSON lines."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs


@attrs.frozen
class Curve:
    """Finite values over optimizer steps, in the order of steps."""

    steps: tuple[int, ...] = ()
    values: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.steps)


@attrs.frozen
class History:
    """The curves of a run; ``validation`` by the name of the data."""

    loss: Curve = Curve()
    lr: Curve = Curve()
    validation: Mapping[str, Curve] = attrs.field(factory=dict)


def read_history(path: Path) -> History:
    """Return the curves of the run whose JSON lines are at ``path``; empty when there are none.

    The file may hold several starts of one run. Each takes the place of what an earlier one did after the step that
    it started from, and a start from step 0 of everything before it.
    """
    if not path.is_file():
        return History()
    with path.open(encoding="utf-8", errors="replace") as lines:
        return history_of(_records(lines))


def history_of(records: Iterable[Mapping[str, Any]]) -> History:
    """Return the curves of ``records``, in the order in which they were written."""
    curves: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        event = record.get("event")
        if event == "run_started":
            _rewind(curves, int(record.get("step", 0)))
        elif event == "step":
            _put(curves, ("step", "loss"), record, "loss")
            _put(curves, ("step", "lr"), record, "lr")
        elif event == "validation":
            _put(curves, ("validation", str(record.get("name"))), record, "loss")
    sets = {name: _curve(points) for (event, name), points in curves.items() if event == "validation"}
    return History(
        loss=_curve(curves.get(("step", "loss"), {})),
        lr=_curve(curves.get(("step", "lr"), {})),
        validation={name: curve for name, curve in sets.items() if curve},
    )


def smoothed(values: Sequence[float], window: int) -> list[float]:
    """Return the mean over ``window`` values around each; near the ends over fewer, as many before as after."""
    sums = [0.0, *itertools.accumulate(values)]
    averages = []
    for index in range(len(values)):
        reach = min(window // 2, index, len(values) - 1 - index)
        averages.append((sums[index + reach + 1] - sums[index - reach]) / (2 * reach + 1))
    return averages


def _records(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the records; a line that a crash cut short is left out."""
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def _rewind(curves: dict[tuple[str, str], dict[int, float]], step: int) -> None:
    if step == 0:
        curves.clear()
    for points in curves.values():
        for later in [known for known in points if known > step]:
            del points[later]


def _put(
    curves: dict[tuple[str, str], dict[int, float]], curve: tuple[str, str], record: Mapping[str, Any], key: str
) -> None:
    value = float(record[key])
    if math.isfinite(value):
        curves.setdefault(curve, {})[int(record["step"])] = value


def _curve(points: Mapping[int, float]) -> Curve:
    steps = sorted(points)
    return Curve(tuple(steps), tuple(points[step] for step in steps))
