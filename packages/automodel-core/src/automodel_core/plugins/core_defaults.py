"""The modules whose implementations answer when nobody else does: the lowest layer of every run."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from types import ModuleType
from typing import Final

CORE_DEFAULT_MODULES: Final = (
    "automodel_core.infrastructure.stage_hooks",
    "automodel_core.training.defaults",
)


def load_core_defaults(names: Iterable[str] = CORE_DEFAULT_MODULES) -> tuple[ModuleType, ...]:
    """Import the core's own implementations of hooks. Done when a run starts, not before: they import torch."""
    return tuple(importlib.import_module(name) for name in names)
