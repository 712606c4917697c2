"""The bi-encoder that ``model._target_`` names, over whatever architecture a directory's config has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import nn
from transformers import PreTrainedModel

from automodel_core.adapters.location import model_directory
from automodel_core.adapters.model_class import TransformersModelClass
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.infrastructure.blueprint import Blueprint
from automodel_core.infrastructure.standalone import realise
from automodel_retrieval.models.bi_encoder import SEPARATE, BiEncoder
from automodel_retrieval.models.bi_encoder_adapter import ROUTES, BiEncoderAdapter
from automodel_retrieval.models.pooling import pooling_named
from automodel_retrieval.models.temperature import Temperature


class _Encoder(TransformersModelClass):
    """The plain model without a head."""

    auto_class: ClassVar[str] = "AutoModel"


class AutoModelBiEncoder(TransformersModelClass):
    """Builds a :class:`BiEncoder`. Calling the class is ``from_pretrained``.

    ``pooling`` (``mean``, ``cls`` or ``last_token``) defaults to what the directory says as a sentence-transformers
    model, else to the mean. ``temperature`` divides the similarities, and is trained with ``learn_temperature``.
    ``share_encoder: false`` gives queries and documents an encoder each; ``document_name_or_path`` is where the
    documents' starts from. Every other key is one of transformers' model classes.
    """

    auto_class: ClassVar[str] = "AutoModel"

    @classmethod
    def from_pretrained(cls, name_or_path: Any = None, **kwargs: Any) -> nn.Module:
        """Return the bi-encoder of a directory or hub id, on the CPU, in eval mode."""
        made = cls.blueprint("from_pretrained", name_or_path=name_or_path, **kwargs)
        return realise(made, torch.device("cpu"), 0).eval()

    @classmethod
    def blueprint(
        cls,
        method: str = "__call__",
        *,
        name_or_path: Any = None,
        pooling: str | None = None,
        normalize: bool = True,
        temperature: float = 0.05,
        learn_temperature: bool = False,
        share_encoder: bool | None = None,
        document_name_or_path: str | None = None,
        **arguments: Any,
    ) -> Blueprint:
        """Return the bi-encoder on the meta device. Raises :class:`InputError`: AM385, AM386, and the library's."""
        if not temperature > 0:
            raise InputError(Diagnostic("AM386", f"`temperature` must be more than 0, it is {temperature}"))
        routed = _routed(name_or_path, arguments.get("revision"))
        shared = share_encoder if share_encoder is not None else routed is None and document_name_or_path is None
        if shared and (routed is not None or document_name_or_path is not None):
            message = "`share_encoder: true` leaves no place for the documents' own encoder"
            helps = ("remove the key, or `document_name_or_path`",)
            raise InputError(Diagnostic("AM386", message, helps=helps))
        starts = dict.fromkeys(SEPARATE, name_or_path) if routed is None else routed
        query = _encoder(method, starts[SEPARATE[0]], arguments)
        document = None if shared else _encoder(method, document_name_or_path or starts[SEPARATE[1]], arguments)
        settings = _pooling_of(query.weights_directory) if pooling is None else pooling_named(pooling)
        encoders: list[PreTrainedModel] = [b.module for b in (query, document) if b is not None]  # type: ignore[misc]
        model = BiEncoder(
            encoders[0],
            None if shared else encoders[1],
            pooling=settings,
            normalize=normalize,
            temperature=_on_meta(temperature, learn_temperature),
        )
        adapter = BiEncoderAdapter(None if document is None else document.weights_directory)
        directory = query.weights_directory if routed is None or method == "from_config" else _root(routed)
        return Blueprint(model, adapter, directory, None if method == "from_config" else str(name_or_path))


def _encoder(method: str, name_or_path: Any, arguments: Mapping[str, Any]) -> Blueprint:
    return _Encoder.blueprint(method, name_or_path=name_or_path, **arguments)


def _on_meta(start: float, learned: bool) -> Temperature:
    with torch.device("meta"):
        return Temperature(start, learned=learned)


def _routed(name_or_path: Any, revision: str | None) -> dict[str, str] | None:
    """Return where each encoder lies when ``name_or_path`` holds one for each side, else ``None``."""
    if not isinstance(name_or_path, str) or not Path(name_or_path).expanduser().is_dir():
        return None
    root = model_directory(name_or_path, revision=revision, weights=False)
    found = {name: root / directory for name, directory in ROUTES.items()}
    if not all(path.is_dir() for path in found.values()):
        return None
    return {name: str(path) for name, path in found.items()}


def _root(routed: Mapping[str, str]) -> Path:
    return Path(routed[SEPARATE[0]]).parent


def _pooling_of(directory: Path | None) -> str:
    """Return the pooling that a sentence-transformers directory names, the mean where it names none."""
    if directory is None:
        return "mean"
    for place in (directory / "1_Pooling", directory.parent / "query_1_Pooling"):
        path = place / "config.json"
        if path.is_file():
            return _pooling_in(path)
    return "mean"


def _pooling_in(path: Path) -> str:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(Diagnostic("AM385", f"`{path}` is not JSON: {error}")) from None
    old = {"pooling_mode_cls_token": "cls", "pooling_mode_lasttoken": "last_token", "pooling_mode_mean_tokens": "mean"}
    named = config.get("pooling_mode") or next((ours for key, ours in old.items() if config.get(key)), "mean")
    if not isinstance(named, str):
        message = f"`{path}` joins several poolings, which a bi-encoder here does not have"
        raise InputError(Diagnostic("AM385", message, helps=("set `model.pooling` to one of them",)))
    return pooling_named(named)
