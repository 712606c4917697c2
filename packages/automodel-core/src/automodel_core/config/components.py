"""Checking and building components. Importing and calling happen here, and only after the trust check."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import attrs

from automodel_core.config.argument_types import asks_for_dtype
from automodel_core.config.component import Component
from automodel_core.config.dtypes import AUTO, dtype_name
from automodel_core.config.signatures import Arguments, argument_problems, arguments_of, spelled_for
from automodel_core.config.targets import import_declared, resolve_target
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

__all__ = [
    "build_component",
    "check_component",
    "component_arguments",
    "component_problems",
    "inherit_arguments",
    "resolve_target",
]

FED_BY = {"tokenizer_name_or_path": ("model", "name_or_path")}
"""Arguments that another component's key feeds under another name: argument -> (path of the component, its key)."""

_ONLY_TAKE_ARGUMENTS: Final = ("optimizer", "lr_scheduler", "loss_fn")
_LIBRARIES: Final = ("torch", "transformers")
_NAMED_FOR_DTYPES: Final = ("dtype", "torch_dtype")
"""Keyword arguments of callables that take any, such as ``from_pretrained``."""


def component_problems(
    component: Component, vocabulary: Vocabulary, provided: Collection[str] = ()
) -> list[Diagnostic]:
    """Return everything that is wrong with a component and the components among its arguments, without a call."""
    problems: list[Diagnostic] = []
    try:
        function = resolve_target(component, vocabulary)
    except InputError as error:
        problems.extend(error.diagnostics)
    else:
        if component.called and callable(function):
            problems.extend(argument_problems(component, arguments_of(function), vocabulary, provided))
    for nested in component.nested():
        problems.extend(component_problems(nested, vocabulary))
    return problems


def check_component(component: Component, vocabulary: Vocabulary, provided: Collection[str] = ()) -> None:
    """Check that a component can be built: imports its target, reads its signature, does not call it.

    ``provided`` are the arguments that the builder supplies itself, such as an optimizer's ``params``.

    Raises:
        InputError: with every problem.
    """
    problems = component_problems(component, vocabulary, provided)
    if problems:
        raise InputError(problems)


def build_component(component: Component, vocabulary: Vocabulary, **extra: Any) -> Any:
    """Build the components among the arguments, inside out, then call the target.

    ``extra`` are further keyword arguments; they win over the config's.

    Raises:
        InputError: when the target may not be imported, the arguments do not fit its signature, or the target refuses
            them (see :func:`_is_refusal`). What else the target raises is not caught.
    """
    function = resolve_target(component, vocabulary)
    if not component.called or not callable(function):
        return function
    keywords = component_arguments(component, vocabulary, **extra)
    args = [_built(value, vocabulary) for value in component.args]
    if component.partial:
        return functools.partial(function, *args, **keywords)
    if arguments_of(function).known:
        _check_binding(component, function, args, keywords)
    try:
        return function(*args, **keywords)
    except (TypeError, ValueError, IndexError) as error:
        if not _is_refusal(component, error):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        message = f"`{component.target}` refuses these arguments: {reason}"
        named = (span for key, span in component.key_spans.items() if f"`{key}`" in reason)
        raise InputError(Diagnostic("AM212", message, next(named, component.span))) from error


def component_arguments(component: Component, vocabulary: Vocabulary, **extra: Any) -> dict[str, Any]:
    """Return the keyword arguments of :func:`build_component`'s call: checked against the signature, components built.

    Raises:
        InputError: when the target may not be imported or the arguments do not fit its signature.
    """
    arguments = arguments_of(resolve_target(component, vocabulary))
    problems = argument_problems(component, arguments, vocabulary, extra)
    if problems:
        raise InputError(problems)
    names = spelled_for(component, arguments, vocabulary)
    keywords = {names[key]: _built(value, vocabulary) for key, value in component.kwargs.items()}
    keywords = {name: _with_dtype(name, value, arguments) for name, value in keywords.items()}
    keywords.update(extra)
    return keywords


def _with_dtype(name: str, value: Any, arguments: Arguments) -> Any:
    """Return torch's dtype for a text that spells one, where one is asked for: by annotation, or by name alone."""
    by_name = name in _NAMED_FOR_DTYPES and name not in arguments.parameters
    if not isinstance(value, str) or not (asks_for_dtype(arguments.annotations.get(name, Any)) or by_name):
        return value
    spelled = dtype_name(value)
    return value if spelled in (None, AUTO) else import_declared(f"torch:{spelled}")


def inherit_arguments(component: Component, *fallbacks: Component | None, vocabulary: Vocabulary) -> Component:
    """Return ``component`` with the arguments that it leaves out and a fallback has, the first fallback first.

    Only arguments that the target's signature names are taken. :data:`FED_BY` says which argument a key of another
    name feeds: a dataset's ``tokenizer_name_or_path`` is the ``name_or_path`` of ``model``.
    """
    arguments = arguments_of(resolve_target(component, vocabulary))
    kwargs = dict(component.kwargs)
    spans = dict(component.key_spans)
    for fallback in fallbacks:
        if fallback is None:
            continue
        for name in arguments.parameters:
            key = key_that_feeds(name, fallback)
            if name not in kwargs and key is not None:
                kwargs[name] = fallback.kwargs[key]
                if key in fallback.key_spans:
                    spans[name] = fallback.key_spans[key]
    return attrs.evolve(component, kwargs=kwargs, key_spans=spans)


def key_that_feeds(name: str, fallback: Component) -> str | None:
    """Return the key of ``fallback`` that an argument takes its value from, or ``None``."""
    if name in fallback.kwargs:
        return name
    path, key = FED_BY.get(name, ("", ""))
    return key if path == fallback.path and key in fallback.kwargs else None


def _built(value: Any, vocabulary: Vocabulary) -> Any:
    if isinstance(value, Component):
        return build_component(value, vocabulary)
    if isinstance(value, Mapping):
        return {key: _built(item, vocabulary) for key, item in value.items()}
    return [_built(item, vocabulary) for item in value] if isinstance(value, list) else value


def _is_refusal(component: Component, error: Exception) -> bool:
    """Tell a target that refuses its arguments from a bug below it.

    An optimizer, a schedule or a loss does nothing at construction but take its arguments. Of any other target, what
    it raises itself counts, and what torch or transformers raise when it calls them directly.
    """
    if component.path in _ONLY_TAKE_ARGUMENTS:
        return True
    assert error.__traceback__ is not None
    below, packages = error.__traceback__.tb_next, []
    while below is not None:
        packages.append(below.tb_frame.f_globals.get("__name__", "").partition(".")[0])
        below = below.tb_next
    return all(package in _LIBRARIES for package in packages[1:])


def _check_binding(component: Component, function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    try:
        inspect.signature(function).bind(*args, **keywords)
    except TypeError as error:
        message = f"`{component.target}` cannot be called with these arguments: {error}"
        raise InputError(Diagnostic("AM209", message, component.target_span or component.span)) from None
