"""Who owns a declared name. The first to declare it keeps it; a second owner is a conflict that names both."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import attrs

from automodel_core.plugins.installed import InstalledPlugin

Spec = TypeVar("Spec")
Name = TypeVar("Name", bound=Hashable)


@attrs.frozen
class Owned(Generic[Spec]):
    """A declared spec with the plugin that declared it."""

    spec: Spec
    plugin: str
    distribution: str
    version: str

    @property
    def owner(self) -> str:
        """The owner in the words of a report."""
        return f"plugin `{self.plugin}` ({self.distribution} {self.version})"


@attrs.frozen
class Conflict:
    """Two owners of one name: ``keeper`` has it, ``loser`` does not."""

    what: str
    name: str
    keeper: str
    loser: str
    loser_plugin: str

    def __str__(self) -> str:
        return f"{self.what} `{self.name}` is declared by {self.keeper} and by {self.loser}: the first one keeps it"


def claim(
    declared: Iterable[tuple[InstalledPlugin, Spec]],
    names: Callable[[Spec], Sequence[Name]],
    what: str,
    *,
    reserved: Callable[[Name], str | None] = lambda name: None,
    shown: Callable[[Name], str] = str,
) -> tuple[Mapping[Name, Owned[Spec]], tuple[Conflict, ...]]:
    """Give every name to the first that declares it.

    ``names`` returns a spec's own name and then its aliases: a spec whose own name is taken is not usable at all, an
    alias that is taken is only missing. ``reserved`` says who in the core owns a name that no plugin can have.
    """
    owned: dict[Name, Owned[Spec]] = {}
    conflicts: list[Conflict] = []
    for plugin, spec in declared:
        entry = Owned(spec, plugin.name, plugin.distribution, plugin.version)
        for position, name in enumerate(names(spec)):
            keeper = reserved(name) or (owned[name].owner if name in owned else None)
            if keeper is None:
                owned[name] = entry
                continue
            if name not in owned or owned[name] != entry:
                conflicts.append(Conflict(what, shown(name), keeper, plugin.owner, plugin.name))
            if position == 0:
                break
    return owned, tuple(conflicts)
