"""Which parameters train."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence

from torch import nn

from automodel_core.config.name_patterns import no_such_parameter, nothing_trains
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError


def apply_freeze(
    model: nn.Module,
    patterns: Sequence[str],
    trainable: Sequence[str],
    adapter_names: Sequence[str] | None,
    span_of: Callable[[str], Span | None],
) -> None:
    """Set ``requires_grad`` of every parameter.

    ``patterns`` and ``trainable`` are globs over parameter names; what matches a pattern is frozen unless it matches
    ``trainable``. With adapters (``adapter_names`` is not ``None``) everything else is frozen first. A tied weight
    counts under each of its names. Raises :class:`InputError` for a pattern that matches nothing, and when nothing is
    left to train.
    """
    names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    problems = [
        no_such_parameter(pattern, names, span_of(f"freeze.{key}.{number}") or span_of(f"freeze.{key}"))
        for key, given in (("patterns", patterns), ("trainable", trainable))
        for number, pattern in enumerate(given)
        if not fnmatch.filter(names, pattern)
    ]
    kept = {name for pattern in trainable for name in fnmatch.filter(names, pattern)}
    if adapter_names is not None and kept - set(adapter_names):
        problems.append(_not_in_adapter_files(sorted(kept - set(adapter_names))[0], span_of("freeze.trainable")))
    if problems:
        raise InputError(problems)
    if patterns or adapter_names is not None:
        frozen = {name for pattern in patterns for name in fnmatch.filter(names, pattern)}
        if adapter_names is not None:
            frozen |= set(names) - set(adapter_names)
    else:
        frozen = set(names) if trainable else set()
    _set_requires_grad(model, frozen - kept, kept)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise InputError(nothing_trains(span_of("freeze.patterns") or span_of("freeze")))


def _set_requires_grad(model: nn.Module, frozen: set[str], kept: set[str]) -> None:
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if name in frozen:
            parameter.requires_grad_(False)
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if name in kept:  # after all of the frozen, so that a tied weight with one kept name trains
            parameter.requires_grad_(True)


def _not_in_adapter_files(name: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        "AM432",
        f"`freeze.trainable` names `{name}`, which is not an adapter, while `peft` is on",
        span,
        helps=("checkpoints of a `peft` run hold adapters only: remove `freeze.trainable`, or the `peft` section",),
    )
