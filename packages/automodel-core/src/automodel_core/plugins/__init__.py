"""Plugins: discovery, quarantine, what they declare, and the host that calls hooks during one run.

The host is imported when a run asks for it; ``--help`` does not.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from automodel_core.plugins.catalog import Catalog
from automodel_core.plugins.installed import InstalledPlugin
from automodel_core.plugins.layers import Layer
from automodel_core.plugins.ownership import Owned
from automodel_core.plugins.settings import PluginSettings

if TYPE_CHECKING:
    from automodel_core.plugins.host import CallOrderEntry, RunHost, run_host

__all__ = ["CallOrderEntry", "Catalog", "InstalledPlugin", "Layer", "Owned", "PluginSettings", "RunHost", "run_host"]

_OF_THE_HOST = frozenset({"CallOrderEntry", "RunHost", "run_host"})


def __getattr__(name: str) -> Any:
    if name not in _OF_THE_HOST:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(importlib.import_module("automodel_core.plugins.host"), name)
