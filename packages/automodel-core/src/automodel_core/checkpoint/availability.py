"""Whether a run may write its checkpoints to a directory: decided without writing anything."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from automodel_core.checkpoint.directory import LATEST, complete_steps, step_directory
from automodel_core.diagnostics import Diagnostic, Span


def directory_problem(
    home: Path, *, overwrite: bool, resuming_from: Path | None, span: Span | None = None
) -> Diagnostic | None:
    """Return why a run cannot write its checkpoints below ``home``, or ``None``.

    AM505 when the file system would refuse, AM506 when it holds another run's checkpoints and the run neither resumes
    from one of them nor may overwrite. Another process may still take the directory before the run does.
    """
    reason = _refusal(home)
    if reason is not None:
        return not_writable(home, reason, span)
    return other_run(home, overwrite=overwrite, resuming_from=resuming_from, span=span)


def other_run(
    home: Path, *, overwrite: bool, resuming_from: Path | None, span: Span | None = None
) -> Diagnostic | None:
    """Return AM506 when ``home`` holds another run's checkpoints, which this run does not go on from."""
    steps = complete_steps(home)
    if not steps or overwrite or is_step_of(home, resuming_from):
        return None
    return Diagnostic(
        "AM506",
        f"`{home}` already holds the checkpoints of a run (up to `step-{steps[-1]}`)",
        span,
        helps=(
            f"to go on from there: `--restore_from.path {step_directory(home, steps[-1])}`",
            "to keep both: `--checkpoint.directory` with another name",
            "to set them aside as `abandoned-step-N-K`: `--checkpoint.overwrite true`",
        ),
    )


def is_step_of(home: Path, checkpoint: Path | None) -> bool:
    """Return whether ``checkpoint`` is one of the steps of ``home``; one that was set aside is of another branch."""
    steps = (step_directory(home, step).resolve() for step in complete_steps(home))
    return checkpoint is not None and checkpoint.resolve() in steps


def latest_is_a_directory(home: Path) -> str | None:
    """Return the reason why the pointer cannot be written, or ``None``."""
    return f"`{LATEST}` in it is a directory" if (home / LATEST).is_dir() else None


def not_writable(home: Path, reason: str, span: Span | None = None) -> Diagnostic:
    """Return what is said when the file system refuses."""
    message = f"checkpoints cannot be written to `{home}`: {reason}"
    return Diagnostic("AM505", message, span, helps=("name another `checkpoint.directory`",))


def _refusal(home: Path) -> str | None:
    there = next((place for place in (home, *home.parents) if os.path.lexists(place)), Path())
    if not there.is_dir():
        return os.strerror(errno.EEXIST if there == home else errno.ENOTDIR)
    if not os.access(there, os.W_OK | os.X_OK):
        return os.strerror(errno.EACCES)
    return latest_is_a_directory(home)
