"""Saying on stderr how far a long pass over data has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

Item = TypeVar("Item")

_QUIET_SECONDS: Final = 2.0
_TERMINAL_SECONDS: Final = 0.2
_LINE_SECONDS: Final = 10.0


def with_progress(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yield ``items``. A pass of more than two seconds reports itself, a line that is renewed on a terminal."""
    terminal = sys.stderr.isatty()
    started = time.monotonic()
    due = started + _QUIET_SECONDS
    shown = False
    for count, item in enumerate(items, 1):
        yield item
        if count % 64 == 0 and time.monotonic() >= due:
            seconds = time.monotonic() - started
            text = f"{what}: {count:,} rows, {count / seconds:,.0f} rows/s"
            print(f"\r\x1b[K{text}" if terminal else text, end="" if terminal else "\n", file=sys.stderr, flush=True)
            due = time.monotonic() + (_TERMINAL_SECONDS if terminal else _LINE_SECONDS)
            shown = True
    if shown and terminal:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
