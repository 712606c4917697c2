"""The load stage: every parameter and persistent buffer gets a source, and whatever does not fit is said at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError
from automodel_core.infrastructure.build import ModelBuild
from automodel_core.infrastructure.peft import ADAPTER_WEIGHTS, bind_adapters
from automodel_core.infrastructure.weights import WeightSource, WeightsPlace, holds_places, whole

_LISTED = 8


def bind_weights(model: nn.Module, build: ModelBuild) -> dict[str, WeightSource]:
    """Return a source for every name of ``model`` that the device stage has to fill. Reads headers, not tensors.

    A full fine-tune that continues reads the checkpoint; with adapters the base weights stay those of the base
    directory and the adapters are the checkpoint's. A module that came with real weights keeps them.
    """
    bound: dict[str, WeightSource] = {}
    adapters = {} if build.peft is None else bind_adapters(model, build.peft, build.seed, build.restore_directory)
    directory = build.base_directory if build.peft is not None else build.restore_directory or build.base_directory
    if directory is not None:
        bound = _from_directory(model, build, directory, frozenset(adapters))
    elif build.is_blueprint:
        names = set(model.state_dict(keep_vars=True)) - set(adapters) - set(build.ties)
        bound = _drawn(model, build, names)
    return bound | adapters


def _from_directory(
    model: nn.Module, build: ModelBuild, directory: Path, adapters: frozenset[str]
) -> dict[str, WeightSource]:
    _refuse_adapters_alone(directory, build.adapter.places(model))
    matched = build.adapter.bind(model, build.adapter.open(model, directory))
    bound = _with_ties(dict(matched.sources), build.ties, directory)
    missing = set(matched.unbound) - adapters - set(build.ties) - set(bound)
    problems = [
        *_unused(directory, matched.unused, missing),
        *_unbound(directory, sorted(missing - matched.optional)),
        *_reshaped(directory, model, bound),
    ]
    if problems:
        raise InputError(problems)
    return bound | _drawn(model, build, missing & matched.optional)


def _drawn(model: nn.Module, build: ModelBuild, names: set[str]) -> dict[str, WeightSource]:
    if not names:
        return {}
    weights = model.state_dict(keep_vars=True)
    initialisers = build.adapter.initialisers(model)
    unknown = sorted(names - set(initialisers))
    if unknown:
        raise InputError(
            Diagnostic(
                "AM415",
                f"`{type(model).__name__}` does not say how {_some(unknown)} starts",
                helps=("start from pretrained weights with `from_pretrained`",),
            )
        )
    return {
        name: initialisers[name].source(build.seed, name, weights[name].shape, weights[name].dtype)
        for name in sorted(names)
    }


def _with_ties(bound: dict[str, WeightSource], ties: Mapping[str, str], directory: Path) -> dict[str, WeightSource]:
    """Return ``bound`` with the source of each tied group at the name that owns the storage."""
    for name, owner in ties.items():
        source = bound.pop(name, None)
        if source is None:
            continue
        if owner not in bound:
            bound[owner] = source
        elif not _equal(source, bound[owner]):
            raise InputError(
                Diagnostic(
                    "AM417",
                    f"the model ties `{name}` to `{owner}`, but `{directory}` holds two different values",
                    helps=("set `model.tie_word_embeddings` to false to train them apart",),
                )
            )
    return bound


def _equal(first: WeightSource, second: WeightSource) -> bool:
    if first.shape != second.shape:
        return False
    rows_at_once = max(1, 2**22 // max(1, first.numel() // max(1, first.shape[0])))
    for start in range(0, first.shape[0], rows_at_once):
        index = (slice(start, min(start + rows_at_once, first.shape[0])), *whole(first.shape[1:]))
        if not torch.equal(first.read(index), second.read(index)):
            return False
    return True


def _refuse_adapters_alone(directory: Path, places: Sequence[WeightsPlace]) -> None:
    if (directory / ADAPTER_WEIGHTS).is_file() and not holds_places(directory, places):
        raise InputError(
            Diagnostic(
                "AM425",
                f"`{directory}` holds adapters only, and there is no `peft` section to use them",
                helps=("add the `peft` section of the run that wrote it",),
            )
        )


def _unused(directory: Path, unused: tuple[str, ...], missing: set[str]) -> list[Diagnostic]:
    if not unused:
        return []
    return [
        Diagnostic(
            "AM414",
            f"`{directory}` holds {_count(len(unused), 'weight')} that the model has no place for: {_some(unused)}",
            helps=(
                *did_you_mean(unused[0], sorted(missing)),
                "the configuration may describe another architecture or fewer layers than the weights",
            ),
        )
    ]


def _unbound(directory: Path, missing: list[str]) -> list[Diagnostic]:
    if not missing:
        return []
    return [
        Diagnostic(
            "AM415",
            f"`{directory}` lacks {_count(len(missing), 'weight')} of the model: {_some(missing)}",
            helps=("the configuration may describe another architecture or more layers than the weights",),
        )
    ]


def _reshaped(directory: Path, model: nn.Module, bound: Mapping[str, WeightSource]) -> list[Diagnostic]:
    weights = model.state_dict(keep_vars=True)
    rows = [
        (name, tuple(source.shape), tuple(weights[name].shape))
        for name, source in bound.items()
        if source.shape != weights[name].shape
    ]
    if not rows:
        return []
    width = max(len(name) for name, _, _ in rows)
    table = "\n".join(f"  {name:<{width}}  files {found}  model {wanted}" for name, found, wanted in rows)
    return [
        Diagnostic(
            "AM416",
            f"{_count(len(rows), 'weight')} of `{directory}` and the model differ in shape:\n{table}",
            helps=("remove the keys of `model` that change sizes, or use `from_config` to start from random weights",),
        )
    ]


def _some(names: tuple[str, ...] | list[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names[:_LISTED])
    return listed if len(names) <= _LISTED else f"{listed} and {len(names) - _LISTED} more"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
