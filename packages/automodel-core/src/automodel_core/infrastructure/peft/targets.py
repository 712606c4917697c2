"""Which layers ``peft.target_modules`` means.

``all-linear`` is every linear layer but the output head, and but the layers that the model may bypass. Otherwise each
entry is a name: with ``*``, ``?`` or ``[`` it is a glob over full module names, without it is a full name or the last
parts of one (``q_proj``, ``self_attn.q_proj``). There are no regular expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torch import nn

from automodel_core.config.name_patterns import available_layers, last_parts, matches_layer, no_such_layer
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.errors import InputError

ALL_LINEAR = "all-linear"


def match_targets(
    model: nn.Module,
    target_modules: str | Sequence[str],
    exclude_modules: Sequence[str] = (),
    *,
    output_head: str | None,
    bypassed: Mapping[str, str],
    span_of: Callable[[str], Span | None],
) -> tuple[str, ...]:
    """Return the names of the linear layers to adapt, in the model's order.

    ``exclude_modules`` are entries of the same form, whose layers are left out. ``bypassed`` are layers whose weight
    the model may use without calling the layer, with the reason: an adapter there would silently have no effect.
    ``span_of`` gives the place of a config key. Raises :class:`InputError` for every entry that matches no linear
    layer, or only a bypassed one.
    """
    linear = {name: module for name, module in model.named_modules() if type(module) is nn.Linear}
    excluded, problems = _excluded(model, linear, exclude_modules, span_of)
    if problems:
        raise InputError(problems)
    linear = {name: module for name, module in linear.items() if name not in excluded}
    if isinstance(target_modules, str) and target_modules.lower() == ALL_LINEAR:
        chosen = tuple(name for name in linear if name != output_head and name not in bypassed)
        if not chosen:
            raise InputError(_nothing_linear(model, span_of("peft.target_modules")))
        return chosen
    entries = [target_modules] if isinstance(target_modules, str) else list(target_modules)
    found: set[str] = set()
    for number, entry in enumerate(entries):
        span = span_of(f"peft.target_modules.{number}") or span_of("peft.target_modules")
        hits = {name for name in linear if matches_layer(entry, name)}
        problem = _problem(model, entry, hits, linear, bypassed, span)
        if problem is not None:
            problems.append(problem)
        found |= hits
    if not entries:
        problems.append(_no_entries(span_of("peft.target_modules")))
    if problems:
        raise InputError(problems)
    return tuple(name for name in linear if name in found and name not in bypassed)


def _excluded(
    model: nn.Module,
    linear: Mapping[str, nn.Module],
    exclude_modules: Sequence[str],
    span_of: Callable[[str], Span | None],
) -> tuple[set[str], list[Diagnostic]]:
    """Return the linear layers that entries exclude, and a problem for each entry that matches no module at all."""
    names = [name for name, _ in model.named_modules() if name]
    problems = []
    for number, entry in enumerate(exclude_modules):
        if not any(matches_layer(entry, name) for name in names):
            span = span_of(f"peft.exclude_modules.{number}") or span_of("peft.exclude_modules")
            helps = (*did_you_mean(entry, last_parts(names)), available_layers(linear))
            problems.append(Diagnostic("AM420", f"`{entry}` matches no module", span, helps=helps))
    layers = {name for name in linear for entry in exclude_modules if _inside(entry, name)}
    return layers, problems


def _inside(entry: str, name: str) -> bool:
    """Return whether a layer, or a module around it, is what an entry means."""
    parts = name.split(".")
    return any(matches_layer(entry, ".".join(parts[:length])) for length in range(1, len(parts) + 1))


def _nothing_linear(model: nn.Module, span: Span | None) -> Diagnostic:
    return Diagnostic(
        "AM421",
        f"`{type(model).__name__}` has no linear layer to adapt",
        span,
        helps=("`peft` adapts `torch.nn.Linear` layers only",),
    )


def _no_entries(span: Span | None) -> Diagnostic:
    return Diagnostic(
        "AM420",
        "`peft.target_modules` is empty",
        span,
        helps=("name the layers to adapt, or write `all-linear`",),
    )


def _problem(
    model: nn.Module,
    entry: str,
    hits: set[str],
    linear: Mapping[str, nn.Module],
    bypassed: Mapping[str, str],
    span: Span | None,
) -> Diagnostic | None:
    if hits - set(bypassed):
        return None
    if hits:
        reason = bypassed[sorted(hits)[0]]
        return Diagnostic("AM422", f"`{entry}` cannot be adapted: {reason}", span, helps=("leave it out",))
    others = sorted(
        {type(module).__name__ for name, module in model.named_modules() if name and matches_layer(entry, name)}
    )
    if others:
        return Diagnostic(
            "AM420",
            f"`{entry}` matches no linear layer, only {', '.join(f'`{other}`' for other in others)}",
            span,
            helps=("`peft` adapts `torch.nn.Linear` layers only", available_layers(linear)),
        )
    if any(matches_layer(entry, name) for name, _ in model.named_parameters()):
        return Diagnostic(
            "AM420",
            f"`{entry}` is a weight and not a linear layer",
            span,
            helps=("experts that are fused into one weight cannot be adapted", available_layers(linear)),
        )
    return no_such_layer(entry, f"`{type(model).__name__}`", linear, span, (available_layers(linear),))
