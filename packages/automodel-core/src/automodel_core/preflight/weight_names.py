"""Patterns of ``peft`` and ``freeze`` against the names in the headers of the model's weight files.

A model class may rename what a file holds, fuse several weights, tie a head that no file has, or put a prefix before
every name. So a pattern is wrong here only when it matches nothing of a plain decoder however its names begin;
whatever else is wrong is said when the model is described, before a run.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from automodel_core.config.name_patterns import matches_layer, no_such_layer, no_such_parameter, nothing_trains
from automodel_core.config.rules.rule import Situation
from automodel_core.diagnostics import Diagnostic
from automodel_core.model_files.weights import tensor_names
from automodel_core.preflight.places import TRANSFORMERS, declared_model

HEADS: Final = ("lm_head", "embed_out", "score", "classifier", "cls", "output", "output_projection", "proj")
"""What models call heads, which may be tied or new and so in no file."""
_ALL_LINEAR: Final = "all-linear"


def adapted_layers(situation: Situation) -> Iterator[Diagnostic]:
    """Every entry of ``peft.target_modules`` may be a layer of the model."""
    config = situation.config
    if not config.given("peft"):
        return
    modules = {name.rpartition(".")[0] for name in _names(situation)}
    given = config.peft.target_modules
    entries = [given] if isinstance(given, str) else given
    for number, entry in enumerate(entries):
        if modules and entry.lower() != _ALL_LINEAR and not _may_be_a_layer(entry, modules):
            span = config.span(f"peft.target_modules.{number}") or config.span("peft.target_modules")
            yield no_such_layer(entry, f"`{declared_place(situation)}`", sorted(modules), span)


def frozen_parameters(situation: Situation) -> Iterator[Diagnostic]:
    """Every pattern of ``freeze`` may be a parameter of the model, and something is left to train."""
    config = situation.config
    names = sorted(_names(situation))
    if not names or config.given("peft"):  # patterns may then name adapters
        return
    freeze = config.freeze
    known = [*names, *(f"{head}.{kind}" for head in HEADS for kind in ("weight", "bias"))]
    for key, patterns in (("patterns", freeze.patterns), ("trainable", freeze.trainable)):
        for number, pattern in enumerate(patterns):
            if not _may_match(pattern, known):
                span = config.span(f"freeze.{key}.{number}") or config.span(f"freeze.{key}")
                yield no_such_parameter(pattern, names, span)
    if "*" in freeze.patterns and not freeze.trainable:
        yield nothing_trains(config.span("freeze.patterns"))


def declared_place(situation: Situation) -> str:
    """Return how the config names the model."""
    named = declared_model(situation)
    return "" if named is None else named[2]


def _names(situation: Situation) -> frozenset[str]:
    """Return the names in the weight files of a model whose class keeps them as they are, but for their beginning."""
    named = declared_model(situation)
    if named is None or named[0].adapter != TRANSFORMERS:
        return frozenset()
    directory = Path(named[2]).expanduser()
    return tensor_names(directory) if _is_plain_decoder(directory) else frozenset()


def _is_plain_decoder(directory: Path) -> bool:
    """Return whether a model has neither experts, which are fused, nor other parts, nor code of its own."""
    try:
        values = json.loads((directory / "config.json").read_bytes())
        unusual = [key for key in values if "expert" in key or key == "auto_map" or isinstance(values[key], dict)]
    except (OSError, ValueError, TypeError, RecursionError):
        return False
    return set(unusual) <= {"rope_scaling", "rope_parameters"}


def _may_be_a_layer(entry: str, modules: Iterable[str]) -> bool:
    last = entry.rpartition(".")[2]
    wild = f"*{last}" if any(character in last for character in "*?[") else last
    return any(matches_layer(wild, name) for name in (*modules, *HEADS))


def _may_match(pattern: str, names: Iterable[str]) -> bool:
    forms = (f"*{pattern}", f"*{pattern.partition('.')[2] or pattern}")
    return any(fnmatch.fnmatch(name, form) for name in names for form in forms)
