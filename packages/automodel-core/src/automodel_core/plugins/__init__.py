"""Plugins: discovery, quarantine, what they declare, and the host that calls hooks during one run."""

from automodel_core.plugins.catalog import Catalog
from automodel_core.plugins.host import CallOrderEntry, RunHost, run_host
from automodel_core.plugins.installed import InstalledPlugin
from automodel_core.plugins.layers import Layer
from automodel_core.plugins.ownership import Owned
from automodel_core.plugins.settings import PluginSettings

__all__ = ["CallOrderEntry", "Catalog", "InstalledPlugin", "Layer", "Owned", "PluginSettings", "RunHost", "run_host"]
