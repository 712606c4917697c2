"""Results that the file system does not take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from automodel_core.diagnostics.diagnostic import Diagnostic, Span
from automodel_core.errors import InputError


@contextmanager
def writing_to(directory: Path, key: str, span: Span | None) -> Iterator[None]:
    """Make ``directory``, and turn what the file system refuses in the block into :class:`InputError` (AM520).

    ``key`` of the config, written at ``span``, is what names the directory.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"results cannot be written to `{directory}`: {reason.lower()}"
        raise InputError(Diagnostic("AM520", message, span, helps=(f"name another directory in `{key}`",))) from error
