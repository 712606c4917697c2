"""Who may answer a hook of a run, from the weakest to the strongest."""

from __future__ import annotations

import enum
from typing import Final


class Layer(enum.IntEnum):
    """Where a plugin of a run comes from. A higher layer answers before a lower one, whatever else is said."""

    CORE = 0
    INSTALLED = 1
    RECIPE = 2
    PROJECT = 3
    PLUGIN_FILE = 4
    USER = 5

    @property
    def label(self) -> str:
        """The layer in the words of the documentation."""
        return _LABELS[self]


_LABELS: Final = {
    Layer.CORE: "core",
    Layer.INSTALLED: "installed plugin",
    Layer.RECIPE: "recipe",
    Layer.PROJECT: "project file",
    Layer.PLUGIN_FILE: "--plugin file",
    Layer.USER: "user object",
}
