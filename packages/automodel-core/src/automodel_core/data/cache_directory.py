"""Where what can be made again is kept between runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

CACHE_VARIABLE: Final = "AUTOMODEL_CACHE"


def cache_directory() -> Path:
    """Return ``$AUTOMODEL_CACHE``, else ``automodel`` in the user's cache directory. It need not exist."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "automodel"
