"""Whether an object implements hooks in the way that will make them be called.

pluggy lets several mistakes through silently: a method without its decorator is no implementation, a misspelled
argument with a default keeps its default, keyword-only arguments fail at the first call. They are found here, before
a run starts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from automodel_core.diagnostics.suggest import closest
from automodel_core.hookspecs import PROJECT
from automodel_core.plugins.hook_table import HookInfo, hook_table

FORBIDDEN_OPTIONS: Final = ("tryfirst", "trylast", "optionalhook", "hookwrapper")
_VARIADIC: Final = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


@attrs.frozen
class Implementation:
    """A function of a plugin that carries the marker: its ``attribute``, the ``hook`` it names and its options."""

    attribute: str
    hook: str
    function: Callable[..., Any]
    options: dict[str, Any]


def implementations(plugin: object) -> tuple[Implementation, ...]:
    """Return what ``plugin`` marks with ``@hookimpl``, whether or not such a hook exists."""
    found = []
    for attribute, function in _routines(plugin):
        options = getattr(function, f"{PROJECT}_impl", None)
        if options is not None:
            found.append(Implementation(attribute, options.get("specname") or attribute, function, options))
    return tuple(found)


def contract_problems(plugin: object, *, core: bool = False) -> tuple[str, ...]:
    """Return every way in which ``plugin`` breaks the contract of the hooks, as sentences; empty when it is sound.

    ``core`` allows the core's own implementations to set an order among themselves with ``trylast``.
    """
    if inspect.isclass(plugin):
        return (f"`{plugin.__name__}` is a class: pass an instance, `{plugin.__name__}()`",)
    if isinstance(plugin, str):
        return (f"`{plugin}` is a string: pass an object, or a file with `plugin_files=` or `--plugin`",)
    marked = implementations(plugin)
    problems = [*_undecorated(plugin)]
    for implementation in marked:
        problems.extend(_implementation_problems(implementation, core=core))
    return tuple(problems)


def _undecorated(plugin: object) -> Iterator[str]:
    for name, function in _routines(plugin):
        if name not in hook_table() or getattr(function, f"{PROJECT}_impl", None) is not None:
            continue
        if inspect.ismodule(plugin) and getattr(function, "__module__", None) != plugin.__name__:
            continue
        yield f"`{name}` has the name of a hook but no `@hookimpl`, so it would never be called"


def _implementation_problems(implementation: Implementation, *, core: bool) -> Iterator[str]:
    for option in FORBIDDEN_OPTIONS:
        if implementation.options.get(option) and not (core and option == "trylast"):
            hint = "write `wrapper=True`" if option == "hookwrapper" else "the layer alone decides the order"
            yield f"`{implementation.attribute}` sets `{option}`, which is not allowed: {hint}"
    hook = hook_table().get(implementation.hook)
    if hook is None:
        yield f"`{implementation.hook}` is not a hook{_suggest(implementation.hook, hook_table())}"
        return
    yield from _argument_problems(implementation, hook)
    if implementation.options.get("wrapper") and hook.kind == "declaration":
        yield f"`{implementation.attribute}` is a wrapper around a declaration, which is not allowed"


def _argument_problems(implementation: Implementation, hook: HookInfo) -> Iterator[str]:
    for name, parameter in _parameters(implementation.function).items():
        if parameter.kind in _VARIADIC:
            yield (
                f"`{implementation.attribute}` takes `{parameter}`, which would never be filled: "
                f"name the arguments it needs ({_listed(hook.arguments)})"
            )
        elif name not in hook.arguments:
            known = _listed(hook.arguments)
            yield f"`{implementation.attribute}` takes `{name}`, which `{hook.name}` does not have" + (
                _suggest(name, hook.arguments) or f" (it has {known})"
            )


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


def _suggest(name: str, candidates: Any) -> str:
    best = closest(name, candidates, limit=1)
    return f"; did you mean `{best[0]}`?" if best else ""


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _routines(plugin: object) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions and methods of ``plugin``, bound, without evaluating its properties."""
    if inspect.ismodule(plugin):
        for name, value in list(vars(plugin).items()):
            if inspect.isroutine(value):
                yield name, value
        return
    for name in dir(plugin):
        if name.startswith("__"):
            continue
        static = inspect.getattr_static(plugin, name, None)
        if inspect.isroutine(static) or isinstance(static, (staticmethod, classmethod)):
            yield name, getattr(plugin, name)
