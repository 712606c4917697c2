"""The exceptions that cross a room of the house, each with the exit code the command line gives it.

A user's mistake is an :class:`InputError` and never shows a traceback; anything else is ours and always does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from automodel_core.diagnostics import Diagnostic

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_WRONG_INPUT = 2
EXIT_PREEMPTED = 75


class AutomodelError(Exception):
    """Base class of everything that automodel raises on purpose."""

    exit_code = EXIT_FAILED


class InputError(AutomodelError):
    """What the user gave cannot work. Carries every problem that was found, not only the first."""

    exit_code = EXIT_WRONG_INPUT

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic]) -> None:
        if not isinstance(diagnostics, Sequence):
            diagnostics = (diagnostics,)
        if not diagnostics:
            raise ValueError("an InputError needs at least one diagnostic")
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("; ".join(d.message for d in self.diagnostics))


class PluginError(AutomodelError):
    """A plugin or a plugin object breaks the contract of the hooks."""

    exit_code = EXIT_WRONG_INPUT


class UnansweredHookError(AutomodelError):
    """Nobody answered a hook that must have an answer."""


class RunFailedError(AutomodelError):
    """The run started and could not go on (non-finite loss, full disk, a lost rank)."""
