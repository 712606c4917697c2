"""How many ranks a run has, as a launcher or a user says it."""

from __future__ import annotations

import os

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def number_of_ranks(given: str | None = None) -> int | None:
    """Return ``given``, else ``WORLD_SIZE`` of the environment, else ``None``.

    Raises :class:`InputError` (AM705) for what is no number from 1.
    """
    text = given or os.environ.get("WORLD_SIZE")
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        name = "--world-size" if given else "the environment's WORLD_SIZE"
        helps = ("write a number of ranks from 1",)
        raise InputError(Diagnostic("AM705", f"{name} is `{text}`, which is no number of ranks", helps=helps))
    return int(text)
