"""The domains that come from this project, so that one that is not installed can be named with its package."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

DOMAIN_DISTRIBUTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "llm": "automodel-llm",
        "vlm": "automodel-vlm",
        "diffusion": "automodel-diffusion",
        "retrieval": "automodel-retrieval",
    }
)

RESERVED_COMMANDS: Final = frozenset(
    {
        "assets",
        "checkpoint",
        "config",
        "data",
        "doctor",
        "explain",
        "help",
        "plan",
        "plugins",
        "recipes",
        "rehearse",
    }
)
"""First words of the command line that belong to the core's own tools, now or later."""
