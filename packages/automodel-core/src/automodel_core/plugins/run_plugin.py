"""A member of a run, and what reports call it."""

from __future__ import annotations

import inspect
from typing import Any

import attrs

from automodel_core.plugins.layers import Layer


@attrs.frozen
class RunPlugin:
    """Something that may answer hooks in a run: a module or an object, with the ``name`` that reports use."""

    name: str
    plugin: Any
    layer: Layer


def object_name(plugin: Any) -> str:
    """Return how reports call a plugin object that a user passed."""
    if inspect.ismodule(plugin) or inspect.isclass(plugin):
        return plugin.__name__
    return type(plugin).__name__
