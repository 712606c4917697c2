"""Does a file lie in a directory? Asked where trust depends on it, so that a link does not lead out."""

from __future__ import annotations

import os
from pathlib import Path


def lies_in(file: str | os.PathLike[str], directory: Path) -> bool:
    """Return whether ``file``, as it is named or as its links lead, is in ``directory`` or below it."""
    real = directory.resolve()
    return any(path.is_relative_to(real) for path in (Path(os.path.abspath(file)), Path(file).resolve()))
