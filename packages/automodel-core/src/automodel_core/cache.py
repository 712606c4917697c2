"""Where what can be fetched or made again is kept between runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

CACHE_VARIABLE: Final = "AUTOMODEL_CACHE"


def cache_directory(environment: Mapping[str, str] | None = None) -> Path:
    """Return ``$AUTOMODEL_CACHE``, else ``automodel`` below the user's cache directory. It need not exist."""
    environment = os.environ if environment is None else environment
    if environment.get(CACHE_VARIABLE):
        return Path(environment[CACHE_VARIABLE]).expanduser()
    base = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".cache")
    return Path(base) / "automodel"


def asset_directory(name: str, environment: Mapping[str, str] | None = None) -> Path:
    """Return where the asset ``name`` lies once it is fetched."""
    return cache_directory(environment) / "assets" / name
