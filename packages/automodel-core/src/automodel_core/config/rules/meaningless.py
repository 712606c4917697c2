"""Top-level keys without a meaning, which nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.config.rules.rule import Situation
from automodel_core.config.schemas import is_inert, is_silent
from automodel_core.diagnostics import Diagnostic


def keys_without_meaning(situation: Situation) -> Iterator[Diagnostic]:
    """``ci`` and ``_…`` are for other tools. One line says so for all of them; ``x-…`` says it by its name."""
    entries = situation.config.document.entries.items()
    found = {str(key): entry.key_span for key, entry in entries if is_inert(key) and not is_silent(key)}
    if found:
        names = ", ".join(f"`{name}`" for name in found)
        message = f"{names} {'has' if len(found) == 1 else 'have'} no effect: nothing here reads such a key"
        helps = ("it is for other tools; a key under `x-…` says so by its name",)
        yield Diagnostic("AM940", message, next(iter(found.values())), "no effect", helps, severity="warning")
