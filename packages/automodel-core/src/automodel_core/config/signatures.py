"""Do the keys of a component fit the signature of its target? Answered without calling it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping
from inspect import Parameter
from typing import Any, Final, Union

import attrs

from automodel_core.config.advice import advice, counterpart
from automodel_core.config.aliases import old_names
from automodel_core.config.argument_types import asks_for_dtype, mismatch, shown
from automodel_core.config.component import Component
from automodel_core.config.dtypes import dtype_help
from automodel_core.config.scalars import is_number_text
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.diagnostics import Diagnostic, closest, did_you_mean

_WITH_FINITE_NUMBERS: Final = ("optimizer", "lr_scheduler", "loss_fn")
"""Sections in which no argument can mean anything by NaN or infinity; not every optimizer says so itself."""

RESERVED: Final = ("params", "optimizer", "processor")
"""Arguments that only the run can give, where it gives them."""

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_BY_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


@attrs.frozen
class Arguments:
    """The parameters of a callable that can be given by keyword; ``anything`` when it takes ``**kwargs``.

    ``known`` is false for the few callables written in C that do not say what they take.
    """

    parameters: Mapping[str, bool]
    """Names, true when the parameter is required."""
    anything: bool = False
    known: bool = True
    positional: tuple[str, ...] = ()
    """Names of the parameters that ``_args_`` fill, in order."""
    any_number: bool = False
    """Whether more positional arguments are taken than there are names."""
    annotations: Mapping[str, Any] = attrs.field(factory=dict)
    """What parameters ask for, of those that say it in a form that can be read."""

    def accepts(self, name: str) -> bool:
        return self.anything or not self.known or name in self.parameters


def arguments_of(function: Callable[..., Any]) -> Arguments:
    """Return what ``function`` takes by keyword."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return Arguments({}, known=False)
    parameters = signature.parameters.values()
    named = {p.name: p.default is Parameter.empty for p in parameters if p.kind in _BY_KEYWORD}
    anything = any(p.kind is Parameter.VAR_KEYWORD for p in parameters)
    positional = tuple(p.name for p in parameters if p.kind in _POSITIONAL)
    any_number = any(p.kind is Parameter.VAR_POSITIONAL for p in parameters)
    annotations = {**_annotations(_described_by(function)), **_annotations(function)}
    return Arguments(named, anything, positional=positional, any_number=any_number, annotations=annotations)


def _described_by(function: Any) -> Callable[..., Any]:
    """Return what says more of the arguments: a model class reads those of its constructors in ``blueprint``."""
    owner = function if isinstance(function, type) else getattr(function, "__self__", None)
    blueprint = getattr(owner, "blueprint", None)
    described: Callable[..., Any] = blueprint if isinstance(owner, type) and callable(blueprint) else function
    return described


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        parameters = inspect.signature(function, eval_str=True).parameters.values()
    except (NameError, AttributeError, TypeError, SyntaxError, ValueError):
        return {}  # names that only a type checker imports
    written = [p for p in parameters if p.kind in _BY_KEYWORD and p.annotation is not Parameter.empty]
    # ``x: int = None`` is an old way to write ``x: int | None = None``.
    return {p.name: Union[p.annotation, None] if p.default is None else p.annotation for p in written}  # noqa: UP007


def spelled_for(component: Component, arguments: Arguments, vocabulary: Vocabulary) -> dict[str, str]:
    """Return, for each key of ``component``, the parameter it feeds.

    A key was renamed to our spelling when the config was read; a target that has only the other spelling as a
    parameter, as ``from_pretrained(pretrained_model_name_or_path)`` has, is given that.
    """
    return {key: _spelling(component.path, key, arguments, vocabulary) for key in component.kwargs}


def _spelling(path: str, key: str, arguments: Arguments, vocabulary: Vocabulary) -> str:
    if key not in arguments.parameters:
        for old in old_names(f"{path}.{key}", vocabulary.key_aliases):
            if old in arguments.parameters:
                return old
    return key


def argument_problems(
    component: Component, arguments: Arguments, vocabulary: Vocabulary, provided: Collection[str] = ()
) -> list[Diagnostic]:
    """Return every unknown key and every wrong value, at its place, and every missing key, at the target.

    ``provided`` are the parameters that the builder supplies itself.
    """
    if not arguments.known:
        return []
    names = spelled_for(component, arguments, vocabulary)
    problems = [_unknown(component, key, arguments) for key, name in names.items() if not arguments.accepts(name)]
    problems += [_reserved(component, key) for key, name in names.items() if name in RESERVED and name in provided]
    filled = arguments.positional[: len(component.args)]
    if len(component.args) > len(arguments.positional) and not arguments.any_number:
        problems.append(_too_many(component, len(arguments.positional)))
    problems += [_twice(component, key) for key, name in names.items() if name in filled]
    given = {*names.values(), *provided, *filled, *_meant_by(names, arguments)}
    wanted = () if component.partial else arguments.parameters.items()
    missing = [name for name, required in wanted if required and name not in given]
    return [*problems, *_wrong_values(component, names, arguments), *(_missing(component, name) for name in missing)]


def _meant_by(names: Mapping[str, str], arguments: Arguments) -> set[str]:
    """Return the parameters that unknown keys were probably meant as: they are not missing besides."""
    unknown = [key for key, name in names.items() if not arguments.accepts(name)]
    return {best for key in unknown for best in closest(key, arguments.parameters, limit=1)}


def _wrong_values(component: Component, names: Mapping[str, str], arguments: Arguments) -> list[Diagnostic]:
    problems = []
    for key, value in component.kwargs.items():
        span = component.key_spans.get(key, component.span)
        annotation = arguments.annotations.get(names[key], Any)
        expected = mismatch(value, annotation)
        if expected is not None:
            message = f"`{key}` of `{component.target}` must be {expected}, got {shown(value)}"
            of_dtype = isinstance(value, str) and asks_for_dtype(annotation)
            helps = (dtype_help(value),) if of_dtype else _value_help(key, value, expected)
            problems.append(Diagnostic("AM211", message, span, f"not {expected}", helps))
        elif component.path in _WITH_FINITE_NUMBERS and isinstance(value, float) and not math.isfinite(value):
            message = f"`{component.target}` refuses these arguments: `{key}` is {value}"
            problems.append(Diagnostic("AM212", message, span, "not a finite number", ("write a finite number",)))
    return problems


def _value_help(key: str, value: Any, expected: str) -> tuple[str, ...]:
    """Return what to type instead of a text or a boolean that was meant as something else."""
    if isinstance(value, str) and is_number_text(value):
        return (f"drop the quotes: `{key}: {value}`",)
    if isinstance(value, str) and "true or false" in expected and value.lower() in ("yes", "no", "on", "off"):
        return (f"write `{key}: {str(value.lower() in ('yes', 'on')).lower()}`",)
    if isinstance(value, str) and is_number_text(value.replace(",", ".")):
        return (f"write a point: `{key}: {value.replace(',', '.')}`",)
    if isinstance(value, int | float) and "text" in expected and not isinstance(value, bool):
        return (f"quote it: `{key}: '{value}'`",)
    return (f"write {expected}, or leave `{key}` out",)


def _unknown(component: Component, key: str, arguments: Arguments) -> Diagnostic:
    span = component.key_spans.get(key, component.span)
    names = list(arguments.parameters)
    helps = _meant(component.path, key, names) or did_you_mean(key, names)
    if not helps:
        listed = ", ".join(f"`{name}`" for name in names[:12]) + (", …" if len(names) > 12 else "")
        helps = (f"it takes {listed}",) if names else ("it takes no arguments",)
    message = f"`{component.target}` has no argument `{key}`"
    return Diagnostic("AM207", message, span, "unknown argument", helps)


def _meant(path: str, key: str, names: Collection[str]) -> tuple[str, ...]:
    """Return a help line when other trainers call an argument of this component ``key``."""
    section, _, name = (counterpart(key) or "").rpartition(".")
    if not name or (section == path and name not in names):
        return ()
    return (f"it is `{name}` here",) if section == path else advice(key)


def _too_many(component: Component, most: int) -> Diagnostic:
    message = f"`{component.target}` takes {most} positional arguments, and `_args_` has {len(component.args)}"
    helps = (f"leave {most} of them, and give the others by name",) if most else ("remove `_args_`",)
    return Diagnostic("AM209", message, component.target_span or component.span, "", helps)


def _twice(component: Component, key: str) -> Diagnostic:
    span = component.key_spans.get(key, component.span)
    message = f"`{key}` of `{component.target}` is given by `_args_` already"
    return Diagnostic("AM209", message, span, "given twice", ("keep one of the two",))


def _reserved(component: Component, key: str) -> Diagnostic:
    span = component.key_spans.get(key, component.span)
    message = f"`{key}` of `{component.target}` is what the run gives it"
    return Diagnostic("AM207", message, span, "not yours to set", (f"remove `{key}`",))


def _missing(component: Component, name: str) -> Diagnostic:
    where = component.path or "the component"
    return Diagnostic(
        "AM208",
        f"`{component.target}` needs the argument `{name}`",
        component.target_span or component.span,
        f"`{name}` is missing",
        (f"add `{name}:` to `{where}`",),
    )
