"""The files that a config names: the model's directory, the data, the checkpoint to go on from, the one to write to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs

from automodel_core.checkpoint.availability import directory_problem
from automodel_core.checkpoint.directory import open_checkpoint
from automodel_core.config.component import Component
from automodel_core.config.rules.rule import Situation
from automodel_core.config.trust import declared_owner
from automodel_core.data.files import is_missing_file, missing_file
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError
from automodel_core.model_files.place import place_problem, read_config_json
from automodel_core.model_files.weights import absent_shard, holds_weights, index_file, no_weights, shards_of
from automodel_core.specs import ModelSpec

TRANSFORMERS: Final = "automodel_core.adapters.transformers:TransformersAdapter"
_DATA_ARGUMENTS: Final = ("path", "corpus", "queries")
"""Arguments of declared data sets that name files."""


def model_directory(situation: Situation) -> Iterator[Diagnostic]:
    """``model.name_or_path`` that can only be a path is a directory; transformers' has a configuration and weights.

    A model class that nobody declares may read its place in its own way.
    """
    config = situation.config
    named = declared_model(situation)
    if named is None:
        return
    spec, model, name = named
    span = config.span("model.name_or_path") or model.span
    problem = place_problem(name)
    if problem is not None:
        yield attrs.evolve(problem, span=span)
    directory = Path(name).expanduser()
    if spec.adapter != TRANSFORMERS or not directory.is_dir():
        return
    try:
        read_config_json(directory)
    except InputError as error:
        yield from (attrs.evolve(found, span=span) for found in error.diagnostics)
        return
    restored = config.restore_from.path is not None
    if not restored and model.target.rpartition(".")[2] != "from_config":
        yield from (attrs.evolve(found, span=span) for found in _weight_problems(directory))


def declared_model(situation: Situation) -> tuple[ModelSpec, Component, str] | None:
    """Return the declaration of the model's class, its component, and where it is; ``None`` for one without these."""
    model = situation.config.sections.get("model")
    if not isinstance(model, Component):
        return None
    vocabulary = situation.config.vocabulary
    owner = declared_owner(model.target, vocabulary)
    spec = None if owner is None else vocabulary.targets[owner]
    name = model.kwargs.get("name_or_path")
    return (spec, model, name) if isinstance(spec, ModelSpec) and isinstance(name, str) and name else None


def _weight_problems(directory: Path) -> Iterator[Diagnostic]:
    if not holds_weights(directory):
        yield no_weights(directory)
        return
    for shard in shards_of(directory):
        if not (directory / shard).is_file():
            yield absent_shard(directory, shard, index_file())


def data_files(situation: Situation) -> Iterator[Diagnostic]:
    """The files that a declared data set is told to read are there. Patterns and names on a hub are left alone."""
    config = situation.config
    for key in ("dataset", "validation_dataset"):
        section = config.sections.get(key)
        if isinstance(section, Component) and declared_owner(section.target, config.vocabulary) is not None:
            yield from _missing(situation, section)


def _missing(situation: Situation, section: Component) -> Iterator[Diagnostic]:
    for argument in _DATA_ARGUMENTS:
        path = f"{section.path}.{argument}"
        for text, place in _texts(section.kwargs.get(argument), path):
            if is_missing_file(text):
                span = situation.config.span(place) or section.span
                yield attrs.evolve(missing_file(text), span=span)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield value, path
    elif isinstance(value, list):
        yield from ((text, f"{path}.{number}") for number, text in enumerate(value) if isinstance(text, str))


def checkpoint_to_restore(situation: Situation) -> Iterator[Diagnostic]:
    """``restore_from.path`` is a complete checkpoint, as far as the sizes of its files tell."""
    _, problems = _restored(situation)
    yield from problems


def checkpoint_directory(situation: Situation) -> Iterator[Diagnostic]:
    """``checkpoint.directory`` can be written to, and holds no other run."""
    config = situation.config
    section = config.checkpoint
    resuming_from, problems = _restored(situation)
    if not section.enabled or problems:
        return
    problem = directory_problem(
        Path(section.directory),
        overwrite=section.overwrite,
        resuming_from=resuming_from,
        span=_place(situation, "checkpoint.directory"),
    )
    if problem is not None:
        yield problem


def _restored(situation: Situation) -> tuple[Path | None, tuple[Diagnostic, ...]]:
    config = situation.config
    path = config.restore_from.path
    if path is None:
        return None, ()
    home = Path(config.checkpoint.directory)
    try:
        found = open_checkpoint(path, span=config.span("restore_from.path"), default_directory=home)
    except InputError as error:
        return None, error.diagnostics
    return found.path, ()


def _place(situation: Situation, key: str) -> Span | None:
    """Return where ``key`` is written, else its section: a default is nowhere."""
    return situation.config.span(key) or situation.config.span(key.partition(".")[0])
