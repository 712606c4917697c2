"""Which parameters train."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from torch import nn

from automodel_core.config.name_patterns import no_such_parameter, nothing_trains
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError

_OPTIONAL_PARTS: Final = ("vision_tower", "audio_tower")
"""Of a model without one, nothing has to be frozen."""


def apply_freeze(
    model: nn.Module,
    patterns: Sequence[str],
    trainable: Sequence[str],
    adapter_names: Sequence[str] | None,
    span_of: Callable[[str], Span | None],
    parts: Mapping[str, nn.Module | None] | None = None,
) -> None:
    """Set ``requires_grad`` of every parameter.

    ``patterns`` and ``trainable`` are globs over parameter names; what matches a pattern is frozen unless it matches
    ``trainable``, and so is all that is in one of ``parts``, by their keys in ``freeze``. With adapters
    (``adapter_names`` is not ``None``) everything else is frozen first. A tied weight counts under each of its names.
    Raises :class:`InputError` for a pattern that matches nothing, and when nothing is left to train.
    """
    names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    problems = [
        no_such_parameter(pattern, names, span_of(f"freeze.{key}.{number}") or span_of(f"freeze.{key}"))
        for key, given in (("patterns", patterns), ("trainable", trainable))
        for number, pattern in enumerate(given)
        if not fnmatch.filter(names, pattern)
    ]
    in_parts, missing = _in_parts(model, parts or {}, span_of)
    problems += missing
    kept = {name for pattern in trainable for name in fnmatch.filter(names, pattern)}
    if adapter_names is not None and kept - set(adapter_names):
        problems.append(_not_in_adapter_files(sorted(kept - set(adapter_names))[0], span_of("freeze.trainable")))
    if problems:
        raise InputError(problems)
    if patterns or in_parts or adapter_names is not None:
        frozen = in_parts | {name for pattern in patterns for name in fnmatch.filter(names, pattern)}
        if adapter_names is not None:
            frozen |= set(names) - set(adapter_names)
    else:
        frozen = set(names) if trainable else set()
    _set_requires_grad(model, frozen - kept, kept)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise InputError(nothing_trains(span_of("freeze.patterns") or span_of("freeze")))


def _in_parts(
    model: nn.Module, parts: Mapping[str, nn.Module | None], span_of: Callable[[str], Span | None]
) -> tuple[set[str], list[Diagnostic]]:
    """Return the names of the parameters in parts, and a problem for a part that every model of text has but this."""
    inside = {id(p) for module in parts.values() if module is not None for p in module.parameters()}
    names = {name for name, p in model.named_parameters(remove_duplicate=False) if id(p) in inside}
    absent = (part for part, module in parts.items() if module is None and part not in _OPTIONAL_PARTS)
    return names, [_no_such_part(model, part, span_of(f"freeze.{part}")) for part in absent]


def _set_requires_grad(model: nn.Module, frozen: set[str], kept: set[str]) -> None:
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if name in frozen:
            parameter.requires_grad_(False)
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if name in kept:  # after all of the frozen, so that a tied weight with one kept name trains
            parameter.requires_grad_(True)


def _no_such_part(model: nn.Module, part: str, span: Span | None) -> Diagnostic:
    message = f"which part of `{type(model).__name__}` its {part.replace('_', ' ')} is, is not known"
    return Diagnostic("AM430", message, span, helps=("name its parameters in `freeze.patterns`",))


def _not_in_adapter_files(name: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        "AM432",
        f"`freeze.trainable` names `{name}`, which is not an adapter, while `peft` is on",
        span,
        helps=("checkpoints of a `peft` run hold adapters only: remove `freeze.trainable`, or the `peft` section",),
    )
