"""A pluggy manager in which the layer alone decides the order."""

from __future__ import annotations

import pluggy

from automodel_core.errors import PluginError
from automodel_core.hookspecs import PROJECT
from automodel_core.plugins.contract import contract_problems, implementations
from automodel_core.plugins.hook_table import SPECIFICATIONS
from automodel_core.plugins.layers import Layer
from automodel_core.plugins.run_plugin import RunPlugin


class RunManager(pluggy.PluginManager):
    """Registers plugins layer by layer after checking that each keeps the contract of the hooks.

    pluggy calls the latest registered implementation first, so plugins are registered from the lowest layer to the
    highest; within a layer the later one answers first.
    """

    def __init__(self) -> None:
        super().__init__(PROJECT)
        for module in SPECIFICATIONS.values():
            self.add_hookspecs(module)
        self.layers: dict[str, Layer] = {}

    def add(self, plugins: tuple[RunPlugin, ...]) -> None:
        """Register ``plugins``, lowest layer first. Raise :class:`PluginError` for one that breaks the contract."""
        for entry in sorted(plugins, key=lambda p: p.layer):
            self._add_one(entry)

    def _add_one(self, entry: RunPlugin) -> None:
        problems = list(contract_problems(entry.plugin, core=entry.layer is Layer.CORE))
        if not problems and entry.layer >= Layer.PROJECT and not implementations(entry.plugin):
            problems.append("it implements no hook (mark its methods with `@automodel_core.hookimpl`)")
        if any(existing is entry.plugin for existing in self.get_plugins()):
            problems.append("it is given twice")
        if problems:
            raise PluginError(f"plugin `{entry.name}` ({entry.layer.label}): " + "\n  ".join(problems))
        name = self._free_name(entry.name)
        try:
            self.register(entry.plugin, name=name)
        except pluggy.PluginValidationError as error:
            self.unregister(name=name)
            raise PluginError(f"plugin `{entry.name}` ({entry.layer.label}): {error}") from error
        self.layers[name] = entry.layer

    def _free_name(self, name: str) -> str:
        if not self.has_plugin(name):
            return name
        number = 2
        while self.has_plugin(f"{name}#{number}"):
            number += 1
        return f"{name}#{number}"
