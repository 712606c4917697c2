"""Patterns over the names of a model: what an entry means, and what is said of one that means nothing."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Sequence

from automodel_core.diagnostics import Diagnostic, Span, did_you_mean

_WILDCARDS = "*?["


def matches_layer(entry: str, name: str) -> bool:
    """Return whether an entry of ``peft.target_modules`` means the layer ``name``.

    With ``*``, ``?`` or ``[`` it is a glob over whole names, without it is a whole name or the last parts of one.
    """
    if any(character in entry for character in _WILDCARDS):
        return fnmatch.fnmatchcase(name, entry)
    return name == entry or name.endswith(f".{entry}")


def no_such_layer(
    entry: str, model: str, layers: Collection[str], span: Span | None, helps: tuple[str, ...] = ()
) -> Diagnostic:
    """Return what is said of an entry that means no layer of ``model``; ``layers`` are the full names of its own."""
    helps = (*did_you_mean(entry, [*last_parts(layers), *layers]), *helps)
    return Diagnostic("AM420", f"`{entry}` matches no layer of {model}", span, helps=helps)


def available_layers(layers: Iterable[str]) -> str:
    """Return a help line with the layers that can be named."""
    return f"the linear layers are {', '.join(f'`{suffix}`' for suffix in last_parts(layers))}"


def last_parts(names: Iterable[str]) -> list[str]:
    """Return the last part of each dotted name, once, in order."""
    return sorted({name.rpartition(".")[2] for name in names})


def no_such_parameter(pattern: str, names: Sequence[str], span: Span | None) -> Diagnostic:
    """Return what is said of a pattern of ``freeze`` that no parameter's name matches."""
    example = f"patterns are globs over whole parameter names such as `{names[0]}`"
    return Diagnostic(
        "AM430", f"`{pattern}` matches no parameter", span, helps=(*did_you_mean(pattern, names), example)
    )


def nothing_trains(span: Span | None) -> Diagnostic:
    """Return what is said when patterns leave no parameter to train."""
    helps = ("name fewer parameters in `freeze.patterns`, or except some in `freeze.trainable`",)
    return Diagnostic("AM431", "every parameter is frozen: there is nothing to train", span, helps=helps)
