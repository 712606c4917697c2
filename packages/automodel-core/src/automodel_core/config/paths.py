"""Dotted paths into a config: ``dataset.files[0].name``, the same as ``dataset.files.0.name``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

Step = str | int
Path = tuple[Step, ...]

LONGEST_PATH = 64

_SEGMENT = re.compile(r"(?P<name>[^.\[\]]+)(?P<indices>(\[-?[0-9]{1,9}\])*)")
_INDEX = re.compile(r"\[(-?[0-9]+)\]")


class PathError(ValueError):
    """A dotted path that cannot be read."""


@functools.lru_cache(maxsize=4096)
def parse_path(text: str) -> Path:
    """Split a dotted path into names and, for what stands in brackets, list indices.

    Raises:
        PathError: when a name is empty, a bracket holds anything but an integer, or there are more steps than any
            config is deep.
    """
    steps: list[Step] = []
    if text.count(".") + text.count("[") >= LONGEST_PATH:
        raise PathError(f"a path of more than {LONGEST_PATH} steps")
    for segment in text.split("."):
        match = _SEGMENT.fullmatch(segment)
        if match is None:
            raise PathError(f"`{text}` is not a dotted path")
        steps.append(match["name"])
        steps.extend(int(index) for index in _INDEX.findall(match["indices"]))
    return tuple(steps)


def format_path(path: Iterable[Step]) -> str:
    """Return the spelling that :func:`parse_path` reads."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def list_index(step: Step) -> int | None:
    """Return ``step`` as an index of a list, or ``None`` when it cannot be one."""
    if isinstance(step, int):
        return step
    if step.isascii() and step.isdigit() and len(step) < 10:
        return int(step)
    return None
