"""Calling observers one at a time, so that a failing one stops neither the others nor the run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

Failure = Callable[[Any, Exception | SystemExit], None]


def notify_observers(implementations: Sequence[Any], arguments: Mapping[str, Any], *, on_failure: Failure) -> None:
    """Call ``implementations`` (pluggy's, of one event), each with the arguments it names.

    Wrappers run around the others, the outermost first; what they return is ignored, like every result of an event.
    ``on_failure`` is given each implementation that raises, with its exception.
    """
    opened: list[tuple[Any, Generator[None, Any, Any]]] = []
    for implementation in reversed(implementations):
        try:
            result = _call(implementation, arguments)
            if implementation.wrapper:
                next(result)
                opened.append((implementation, result))
        except (Exception, SystemExit) as error:
            on_failure(implementation, error)
    for implementation, wrapper in reversed(opened):
        try:
            _close(wrapper)
        except (Exception, SystemExit) as error:
            on_failure(implementation, error)


def _call(implementation: Any, arguments: Mapping[str, Any]) -> Any:
    taken = [arguments[name] for name in implementation.argnames]
    optional = {name: arguments[name] for name in implementation.kwargnames if name in arguments}
    return implementation.function(*taken, **optional)


def _close(wrapper: Generator[None, Any, Any]) -> None:
    try:
        wrapper.send(None)
    except StopIteration:
        return
    raise RuntimeError("a wrapper of an event must yield once")
