"""Giving a place to problems that were found where no place is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import attrs

from automodel_core.diagnostics.diagnostic import Diagnostic, Span
from automodel_core.errors import InputError


@contextmanager
def placed_at(span: Span | None, arguments: Mapping[str, Span] | None = None) -> Iterator[None]:
    """Let an :class:`InputError` of the block point to ``span`` wherever it points nowhere.

    ``arguments`` are the places of names: a problem that speaks of one of them in backticks points there.
    """
    try:
        yield
    except InputError as error:
        error.diagnostics = tuple(_placed(d, span, arguments or {}) for d in error.diagnostics)
        raise


def _placed(diagnostic: Diagnostic, span: Span | None, arguments: Mapping[str, Span]) -> Diagnostic:
    if diagnostic.span is not None:
        return diagnostic
    said = diagnostic.message
    named = (place for name, place in arguments.items() if f"`{name}`" in said or f"`{name}=" in said)
    return attrs.evolve(diagnostic, span=next(named, span))
