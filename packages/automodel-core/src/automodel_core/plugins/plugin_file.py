"""Plugins from a Python file: what ``--plugin file.py`` and the project file's ``plugins`` name."""

from __future__ import annotations

import hashlib
import importlib.util
import linecache
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from automodel_core.diagnostics.diagnostic import Diagnostic, Span
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import InputError
from automodel_core.plugins.contract import contract_problems, implementations
from automodel_core.plugins.installed import describe_exception
from automodel_core.plugins.layers import Layer
from automodel_core.plugins.run_plugin import RunPlugin

OBJECTS_NAME = "plugins"
"""A module-level list of this name holds plugin objects."""


def load_plugin_files(files: Iterable[tuple[Path, Layer]]) -> tuple[RunPlugin, ...]:
    """Import each file once and return its plugins. Raise :class:`InputError` for every file that cannot be used.

    A file named twice counts in the higher layer.
    """
    layers: dict[Path, tuple[Path, Layer]] = {}
    for path, layer in files:
        resolved = path.resolve()
        known = layers.get(resolved)
        if known is None or layer > known[1]:
            layers.pop(resolved, None)
            layers[resolved] = (path, layer)
    loaded: list[RunPlugin] = []
    problems: list[Diagnostic] = []
    for path, layer in layers.values():
        try:
            loaded.extend(_plugins_of(path, layer))
        except InputError as error:
            problems.extend(error.diagnostics)
    if problems:
        raise InputError(problems)
    return tuple(loaded)


def _plugins_of(path: Path, layer: Layer) -> list[RunPlugin]:
    module = _import_file(path)
    objects = vars(module).get(OBJECTS_NAME, ())
    if not isinstance(objects, (list, tuple)):
        raise InputError(Diagnostic("AM612", f"`{OBJECTS_NAME}` in `{path}` must be a list of plugin objects"))
    found = [RunPlugin(f"{path.name}:{type(item).__name__}", item, layer) for item in objects]
    if implementations(module) or contract_problems(module):
        found.insert(0, RunPlugin(path.name, module, layer))
    if not found:
        helps = (
            "mark its functions with `@automodel_core.hookimpl`",
            f"or list objects that have such methods in `{OBJECTS_NAME} = [...]`",
        )
        raise InputError(Diagnostic("AM612", f"the plugin file `{path}` implements no hook", helps=helps))
    return found


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        message = f"there is no plugin file `{path}`" if not path.exists() else f"`{path}` is not a file"
        raise InputError(Diagnostic("AM611", message, helps=did_you_mean(path.name, _siblings(path))))
    # A name of its own, kept in sys.modules so that classes defined in the file can be pickled by data workers.
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"automodel_plugin_file_{path.stem.replace('-', '_')}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(Diagnostic("AM611", f"the plugin file `{path}` does not end in `.py`"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InputError(_import_failure(path, error)) from error
    return module


def _import_failure(path: Path, error: BaseException) -> Diagnostic:
    message = f"the plugin file `{path}` cannot be imported: {describe_exception(error)}"
    return Diagnostic("AM611", message, _failing_span(path, error), label=type(error).__name__)


def _failing_span(path: Path, error: BaseException) -> Span | None:
    """Return the line of the file itself at which its import failed."""
    if isinstance(error, SyntaxError) and error.lineno is not None and error.filename == str(path):
        column = error.offset or 1
        return Span(str(path), error.lineno, column, column + 1, (error.text or "").rstrip("\n"))
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    if not lines or lines[-1] is None:
        return None
    text = linecache.getline(str(path), lines[-1]).rstrip("\n")
    column = len(text) - len(text.lstrip()) + 1
    return Span(str(path), lines[-1], column, max(len(text) + 1, column + 1), text)


def _siblings(path: Path) -> list[str]:
    directory = path.parent
    return [file.name for file in directory.glob("*.py")] if directory.is_dir() else []
