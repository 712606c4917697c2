"""Naming the plugin and the hook in which an exception was raised."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from types import FrameType, TracebackType
from typing import Any

from automodel_core.errors import InputError


def add_blame(error: BaseException, hook: str, implementations: Sequence[Any], ours: Collection[str] = ()) -> None:
    """Add a note to ``error`` that names ``hook`` and the plugin whose implementation raised it.

    The culprit is the innermost frame of the traceback that runs one of ``implementations`` (pluggy's, of one hook).
    A user's mistake that a plugin named in ``ours`` found needs no culprit.
    """
    culprit = culprit_of(error, implementations)
    if isinstance(error, InputError) and culprit is not None and culprit.plugin_name in ours:
        return
    note = f"in hook `{hook}`" + (f" of plugin `{culprit.plugin_name}`" if culprit is not None else "")
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def culprit_of(error: BaseException, implementations: Sequence[Any]) -> Any:
    """Return the one of ``implementations`` that raised ``error``, or ``None`` when that cannot be told."""
    culprit = None
    for frame in _frames(error.__traceback__):
        culprit = next((impl for impl in implementations if _runs(frame, impl.function)), culprit)
    if culprit is None and len(implementations) == 1:
        culprit = implementations[0]
    return culprit


def _frames(trace: TracebackType | None) -> list[FrameType]:
    frames = []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    return frames


def _runs(frame: FrameType, function: Any) -> bool:
    plain = inspect.unwrap(function)
    code = getattr(plain, "__code__", None)
    if code is None or frame.f_code is not code:
        return False
    owner = getattr(plain, "__self__", None)
    # Two instances of one class share the code: the first local of a method is the instance.
    return owner is None or frame.f_locals.get(code.co_varnames[0]) is owner
