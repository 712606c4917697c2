"""The starters that ship with the installed plugins: complete, commented configs whose first line runs them."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

import attrs

from automodel_core.plugins.catalog import Catalog

_FOLDER: Final = "starters"


@attrs.frozen
class Starter:
    """A shipped config: ``command`` is its first line, ``summary`` the next ones up to an empty comment."""

    name: str
    plugin: str
    file: Traversable = attrs.field(repr=False)

    @property
    def text(self) -> str:
        """The whole file."""
        return self.file.read_text(encoding="utf-8")

    @property
    def command(self) -> str:
        """The command that runs it, with the file's own name."""
        return self.text.partition("\n")[0].removeprefix("#").strip()

    @property
    def summary(self) -> str:
        """What it does, from the comment under the command."""
        lines: list[str] = []
        for line in self.text.splitlines()[1:]:
            words = line.removeprefix("#").strip()
            if not line.startswith("#") or (not words and lines):
                break
            lines.append(words)
        return " ".join(filter(None, lines))


def installed_starters(catalog: Catalog) -> dict[str, Starter]:
    """Return the starters of every usable plugin by name, which is the file's name without its ending."""
    found: dict[str, Starter] = {}
    for plugin in catalog.plugins:
        package = getattr(plugin.plugin, "__package__", None)
        if plugin.status != "ok" or not package:
            continue
        folder = resources.files(package) / _FOLDER
        if folder.is_dir():
            for file in sorted(folder.iterdir(), key=lambda f: f.name):
                if file.name.endswith(".yaml"):
                    name = file.name.removesuffix(".yaml")
                    found.setdefault(name, Starter(name, plugin.name, file))
    return found
