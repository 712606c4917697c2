"""Installed plugins: found by their entry points, imported one by one, and set aside when they are broken."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import Any, Final, Literal

import attrs

from automodel_core.plugins.contract import contract_problems, implementations
from automodel_core.plugins.domains import DOMAIN_DISTRIBUTIONS
from automodel_core.plugins.settings import PluginSettings, normalised

ENTRY_POINT_GROUP: Final = "automodel.plugins"
SLOW_SECONDS: Final = 1.0

Status = Literal["ok", "broken", "disabled"]


@attrs.frozen
class InstalledPlugin:
    """One entry point and what became of it; ``plugin`` is the imported module when ``status`` is ``ok``."""

    name: str
    distribution: str
    version: str
    target: str
    status: Status = "ok"
    error: str = ""
    seconds: float = 0.0
    """How long the import took."""
    plugin: Any = attrs.field(default=None, repr=False)
    hooks: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        """The plugin in the words of a report."""
        return f"plugin `{self.name}` ({self.distribution} {self.version})"

    def broken(self, error: str) -> InstalledPlugin:
        """Return this plugin set aside because of ``error``."""
        return attrs.evolve(self, status="broken", error=error, plugin=None)


def load_installed_plugins(settings: PluginSettings) -> tuple[InstalledPlugin, ...]:
    """Import the module of every entry point that is not disabled; our own domains first, then by distribution.

    A plugin that cannot be imported, or whose hooks break the contract, comes back as broken with the reason.
    """
    found: dict[str, InstalledPlugin] = {}
    for entry_point in sorted(_entry_points(), key=_rank):
        plugin = _describe(entry_point)
        first = found.get(plugin.name)
        if first is not None:
            if normalised(first.distribution) != normalised(plugin.distribution):
                key = f"{plugin.name} of {plugin.distribution}"
                found[key] = plugin.broken(f"the name `{plugin.name}` already belongs to {first.owner}")
            continue
        if settings.disables(plugin.name, plugin.distribution):
            found[plugin.name] = attrs.evolve(plugin, status="disabled")
        else:
            found[plugin.name] = _load(entry_point, plugin)
    return tuple(found.values())


def _entry_points() -> Iterable[metadata.EntryPoint]:
    return metadata.entry_points(group=ENTRY_POINT_GROUP)


def _rank(entry_point: metadata.EntryPoint) -> tuple[int, str, str]:
    """Our own domains come first, so that nobody takes their names by sorting before them."""
    distribution = normalised(_distribution_name(entry_point))
    ours = list(DOMAIN_DISTRIBUTIONS.values())
    return (ours.index(distribution) if distribution in ours else len(ours), distribution, entry_point.name)


def _describe(entry_point: metadata.EntryPoint) -> InstalledPlugin:
    version = entry_point.dist.version if entry_point.dist is not None else "unknown"
    return InstalledPlugin(entry_point.name, _distribution_name(entry_point), version, entry_point.value)


def _distribution_name(entry_point: metadata.EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist is not None else "unknown"


def _load(entry_point: metadata.EntryPoint, plugin: InstalledPlugin) -> InstalledPlugin:
    started = time.perf_counter()
    try:
        with quiet_stdout():
            module = entry_point.load()
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"while importing {plugin.owner}")
        raise
    except (Exception, SystemExit) as error:
        return plugin.broken(describe_exception(error))
    loaded = attrs.evolve(plugin, plugin=module, seconds=time.perf_counter() - started)
    problems = contract_problems(module)
    if problems:
        return loaded.broken("; ".join(problems))
    return attrs.evolve(loaded, hooks=tuple(sorted({i.hook for i in implementations(module)})))


@contextlib.contextmanager
def quiet_stdout() -> Iterator[None]:
    """Send what a plugin prints while it is asked something to stderr: stdout belongs to the command's result."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def describe_exception(error: BaseException) -> str:
    """Return the type, the text and the innermost place of ``error`` on one line."""
    text = " ".join(str(error).split())
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        return said
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return f"{said} (at {frames[-1].filename}:{frames[-1].lineno})" if frames else said
