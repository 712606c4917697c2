"""The host of one run: who answers its hooks, in which order, and who is named when something goes wrong."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from automodel_core.diagnostics.suggest import closest
from automodel_core.errors import PluginError, UnansweredHookError
from automodel_core.plugins.answers import answer_problem
from automodel_core.plugins.blame import add_blame, culprit_of
from automodel_core.plugins.catalog import Catalog
from automodel_core.plugins.core_defaults import load_core_defaults
from automodel_core.plugins.hook_table import HookInfo, HookKind, hook_table
from automodel_core.plugins.installed import describe_exception
from automodel_core.plugins.layers import Layer
from automodel_core.plugins.manager import RunManager
from automodel_core.plugins.observers import notify_observers
from automodel_core.plugins.plugin_file import load_plugin_files
from automodel_core.plugins.run_plugin import RunPlugin, object_name


class CallOrderEntry(NamedTuple):
    """One implementation of a hook, where it stands in the order of calls."""

    plugin: str
    layer: Layer
    wrapper: bool


class RunHost:
    """Calls the hooks of one run. Made by :func:`run_host`."""

    def __init__(self, plugins: Iterable[RunPlugin], *, strict: bool = False) -> None:
        self._manager = RunManager()
        self._manager.add(tuple(plugins))
        self._strict = strict
        self._reported: set[tuple[str, str]] = set()

    def build(self, hook: str, **arguments: Any) -> Any:
        """Return the first answer to ``hook``, which may be ``NOTHING``.

        Raise :class:`UnansweredHookError`, listing who was asked, when every answer is ``None``. An exception of an
        implementation carries a note with the names of the hook and the plugin. Raise :class:`PluginError` for an
        answer that :data:`~automodel_core.plugins.answers.ANSWERS` rules out, naming who may have given it.
        """
        answer = self.maybe(hook, **arguments)
        if answer is None:
            raise UnansweredHookError(self._unanswered(hook))
        problem = answer_problem(hook, answer, arguments)
        if problem is not None:
            asked = ", ".join(f"`{entry.plugin}`" for entry in self.call_order(hook))
            raise PluginError(f"hook `{hook}`, answered by the first that can of {asked}: {problem}")
        return answer

    def maybe(self, hook: str, **arguments: Any) -> Any:
        """Return the first answer to ``hook``, or ``None`` when nobody answers."""
        caller = getattr(self._manager.hook, self._known(hook, "builder", "stage").name)
        try:
            return caller(**arguments)
        except SystemExit as error:
            raise _left(hook, culprit_of(error, caller.get_hookimpls()), error) from error
        except Exception as error:
            layers = self._manager.layers
            ours = [name for name, layer in layers.items() if layer in (Layer.CORE, Layer.RECIPE)]
            add_blame(error, hook, caller.get_hookimpls(), ours)
            raise

    def notify(self, hook: str, **arguments: Any) -> None:
        """Call every observer of ``hook``, one at a time.

        An exception in one is reported on stderr, once for each observer and hook, and the others are still called;
        it propagates when plugins are strict.
        """
        observers = getattr(self._manager.hook, self._known(hook, "event").name).get_hookimpls()
        if observers:
            notify_observers(observers, arguments, on_failure=partial(self._observer_failed, hook))

    def call_order(self, hook: str) -> list[CallOrderEntry]:
        """Return the implementations of ``hook`` in the order of calls: wrappers from the outermost, then the rest."""
        caller = getattr(self._manager.hook, self._known(hook, "builder", "stage", "event").name)
        return [
            CallOrderEntry(impl.plugin_name, self._manager.layers[impl.plugin_name], impl.wrapper)
            for impl in reversed(caller.get_hookimpls())
        ]

    def _known(self, hook: str, *kinds: HookKind) -> HookInfo:
        info = hook_table().get(hook)
        if info is None:
            best = closest(hook, hook_table(), limit=1)
            raise PluginError(f"there is no hook `{hook}`" + (f"; did you mean `{best[0]}`?" if best else ""))
        if info.kind not in kinds:
            article = "an" if info.kind == "event" else "a"
            raise PluginError(f"`{hook}` is {article} {info.kind}, not a {' or '.join(kinds)}")
        return info

    def _unanswered(self, hook: str) -> str:
        asked = [f"`{entry.plugin}` ({entry.layer.label})" for entry in self.call_order(hook) if not entry.wrapper]
        if not asked:
            return f"nobody implements `{hook}`"
        return f"nobody answered `{hook}`: {', '.join(asked)} returned None"

    def _observer_failed(self, hook: str, implementation: Any, error: Exception | SystemExit) -> None:
        if isinstance(error, SystemExit):
            raise _left(hook, implementation, error) from error
        add_blame(error, hook, [implementation])
        if self._strict:
            raise error
        if (implementation.plugin_name, hook) not in self._reported:
            self._reported.add((implementation.plugin_name, hook))
            message = (
                f"plugin `{implementation.plugin_name}` failed in `{hook}` (reported once): {describe_exception(error)}"
            )
            # A closed log pipe is one of the things an observer may fail for: training goes on without a reader.
            with contextlib.suppress(OSError):
                print(f"warning: {message}", file=sys.stderr, flush=True)


def _left(hook: str, implementation: Any, error: SystemExit) -> PluginError:
    """Return the error for a hook that ends the process: whatever its code, the run did not end well."""
    who = f" of plugin `{implementation.plugin_name}`" if implementation is not None else ""
    message = f"hook `{hook}`{who} called `sys.exit({error.code!r})`; a hook raises an exception to stop a run"
    return PluginError(message)


def run_host(
    recipe: object | None,
    *,
    catalog: Catalog | None = None,
    user_plugins: Iterable[object] = (),
    plugin_files: Iterable[str | Path] = (),
    core_plugins: Iterable[object] | None = None,
    strict: bool | None = None,
) -> RunHost:
    """Return a fresh host for one run of ``recipe``.

    Who answers first: ``user_plugins`` (the later the sooner), ``plugin_files``, the project file's files, the
    recipe, the installed plugins of ``catalog``, the core's defaults. ``core_plugins`` replaces the core's defaults.
    Raise :class:`PluginError` for a plugin that breaks the contract of the hooks, :class:`InputError` for a file that
    cannot be imported.
    """
    catalog = Catalog() if catalog is None else catalog
    core = load_core_defaults() if core_plugins is None else tuple(core_plugins)
    files = [(path, Layer.PROJECT) for path in catalog.settings.project.plugins]
    files += [(Path(path), Layer.PLUGIN_FILE) for path in plugin_files]
    plugins = [RunPlugin(object_name(plugin), plugin, Layer.CORE) for plugin in core]
    plugins += catalog.run_plugins()
    if recipe is not None:
        plugins.append(RunPlugin(object_name(recipe), recipe, Layer.RECIPE))
    plugins += load_plugin_files(files)
    plugins += [RunPlugin(object_name(plugin), plugin, Layer.USER) for plugin in user_plugins]
    return RunHost(plugins, strict=catalog.settings.strict if strict is None else strict)
