"""What is installed beside the packages that automodel needs."""

from __future__ import annotations

import importlib.util


def is_installed(module: str) -> bool:
    """Return whether a top-level module could be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # An import that was blocked on purpose: `sys.modules[module] is None`.
        return False
