"""From a target's name to the callable: the vocabulary first, then trusted modules, checked again after the import."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from types import ModuleType
from typing import Any

from automodel_core.config.component import Component
from automodel_core.config.file_targets import file_target, import_file
from automodel_core.config.trust import below, declared_owner, defined_in, is_never, target_problem, trusted_prefix
from automodel_core.config.vocabulary import CONSTANT, Vocabulary
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.errors import InputError
from automodel_core.specs import TargetSpec


def resolve_target(component: Component, vocabulary: Vocabulary) -> Any:
    """Return the callable that ``component`` names.

    Raises:
        InputError: AM203 or AM204 when it may not be imported (and it is not), AM205 when it cannot be, AM206 when
            it is not callable.
    """
    target, span = component.target, component.target_span
    problem = target_problem(target, span, vocabulary)
    if problem is not None:
        raise InputError(problem)
    owner = declared_owner(target, vocabulary)
    found = _trusted(target, span, vocabulary) if owner is None else _declared(owner, target, span, vocabulary)
    if not callable(found) and not _is_constant(component, vocabulary):
        helps = ("name a class or a function",)
        raise InputError(Diagnostic("AM206", f"`{target}` is not callable", span, f"a {type(found).__name__}", helps))
    return found


def _is_constant(component: Component, vocabulary: Vocabulary) -> bool:
    """Return whether a declared value is named, and named alone."""
    spec = vocabulary.targets.get(component.target)
    return isinstance(spec, TargetSpec) and spec.kind == CONSTANT and not component.kwargs and not component.args


def import_declared(reference: str) -> Any:
    """Import what a plugin declared as ``"module:attribute"``."""
    module, _, attribute = reference.partition(":")
    found: Any = importlib.import_module(module)
    for name in attribute.split("."):
        found = getattr(found, name)
    return found


def _declared(owner: str, target: str, span: Span | None, vocabulary: Vocabulary) -> Any:
    reference = vocabulary.targets[owner].target
    try:
        found = import_declared(reference)
    except (ImportError, AttributeError) as error:
        message = f"`{target}` stands for `{reference}`, which cannot be imported: {error}"
        raise InputError(Diagnostic("AM205", message, span, "not importable")) from error
    if owner == target:
        return found
    method = target[len(owner) + 1 :]
    if not hasattr(found, method):
        helps = did_you_mean(method, _public(found))
        raise InputError(Diagnostic("AM205", f"`{owner}` has no attribute `{method}`", span, "not there", helps))
    return getattr(found, method)


def _trusted(target: str, span: Span | None, vocabulary: Vocabulary) -> Any:
    file = file_target(target)
    if file is None:
        prefix = trusted_prefix(target, span, vocabulary)
        assert prefix is not None
        module, rest = _deepest_module(target, prefix, span)
    else:
        module, rest = import_file(file, span), file.attribute.split(".")
    found: Any = module
    for name in rest:
        if not hasattr(found, name):
            where = getattr(found, "__name__", type(found).__name__)
            helps = did_you_mean(name, _public(found)) or did_you_mean(target, vocabulary.targets)
            raise InputError(Diagnostic("AM205", f"`{where}` has no attribute `{name}`", span, "not there", helps))
        found = getattr(found, name)
        if isinstance(found, ModuleType):
            message = f"`{target}` goes through `{name}`, which is a module that `{module.__name__}` only imports"
            raise InputError(Diagnostic("AM204", message, span, "refused", (f"it is `{found.__name__}`",)))
    if callable(found) and not below(defined_in(found), module.__name__):
        _check_origin(target, found, span, vocabulary)
    return found


def _deepest_module(target: str, prefix: str, span: Span | None) -> tuple[ModuleType, list[str]]:
    """Import the longest part of ``target`` that is a module; return it and the names that remain.

    Every import is at or below the trusted prefix, or a parent package of it.
    """
    parts = target.split(".")
    depth = prefix.count(".") + 1
    module = _import(".".join(parts[: min(depth, len(parts))]), target, span)
    while depth < len(parts) - 1 and hasattr(module, "__path__"):
        name = ".".join(parts[: depth + 1])
        if importlib.util.find_spec(name) is None:
            break
        module = _import(name, target, span)
        depth += 1
    return module, parts[depth:]


def _import(name: str, target: str, span: Span | None) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = f"`{target}` cannot be imported: {error}"
        helps = (f"install the package that has `{name.partition('.')[0]}`",) if error.name == name else ()
        raise InputError(Diagnostic("AM205", message, span, "not importable", helps)) from error


def _check_origin(target: str, found: Any, span: Span | None, vocabulary: Vocabulary) -> None:
    """Refuse what a trusted module only re-exports from somewhere that is not trusted."""
    origin = defined_in(found)
    if is_never(origin):
        raise InputError(Diagnostic("AM204", f"`{target}` is `{origin}`, which is never allowed", span, "refused"))
    root = origin.partition(".")[0]
    if root in {entry.prefix.partition(".")[0] for entry in vocabulary.trusted}:
        return
    message = f"`{target}` was defined in `{origin}`, which is not trusted"
    helps = (f"name it there and trust `{root}`, if you know it",)
    raise InputError(Diagnostic("AM203", message, span, "only re-exported here", helps))


def _public(found: Any) -> list[str]:
    return [name for name, _ in inspect.getmembers_static(found) if not name.startswith("_")]
