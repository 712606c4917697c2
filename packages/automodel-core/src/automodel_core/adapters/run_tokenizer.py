"""The tokenizer of a run: the one that its config names, its data are written with, or its model came with."""

from __future__ import annotations

from typing import Any

from automodel_core.adapters.location import model_directory
from automodel_core.adapters.model_class import TransformersModelClass
from automodel_core.adapters.tokenizer import load_tokenizer
from automodel_core.config import RunConfig
from automodel_core.config.components import resolve_target
from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.specs import NOTHING


def tokenizer_of(config: RunConfig) -> Any:
    """Return ``tokenizer``'s, else the data's, else the model's when it has one; otherwise ``NOTHING``.

    Raises :class:`InputError` for a place that is named and holds none, and for a model that is not there.
    """
    section = config.tokenizer
    if section.name_or_path is not None:
        with placed_at(config.span("tokenizer.name_or_path")):
            return load_tokenizer(section.name_or_path, trust_remote_code=section.trust_remote_code)
    name = _data_tokenizer(config)
    if name is None:
        name = model_name(config)
        check_model_is_there(config)
    try:
        return load_tokenizer(name) if name is not None else NOTHING
    except InputError:
        return NOTHING  # a model directory need not hold a tokenizer; a data set that needs one says so


def model_name(config: RunConfig) -> str | None:
    """Return the directory or hub id that the model is named by, if it is."""
    name = config.model.kwargs.get("name_or_path")
    return name if isinstance(name, str) else None


def check_model_is_there(config: RunConfig) -> None:
    """Raise the model's own :class:`InputError` before a tokenizer or a data set is looked for in the same place."""
    name = model_name(config)
    target = resolve_target(config.model, config.vocabulary)
    owner = target if isinstance(target, type) else getattr(target, "__self__", None)
    if name is not None and isinstance(owner, type) and issubclass(owner, TransformersModelClass):
        revision = config.model.kwargs.get("revision")
        with placed_at(config.model.span, config.model.key_spans):
            model_directory(name, revision=revision if isinstance(revision, str) else None, weights=False)


def _data_tokenizer(config: RunConfig) -> str | None:
    """Return the tokenizer that the data are written with: what is trained in it is used in it."""
    name = None if config.dataset is None else config.dataset.kwargs.get("tokenizer_name_or_path")
    return name if isinstance(name, str) else None
