"""The files by which sentence-transformers reads a bi-encoder: modules, pooling, normalisation and prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from torch import nn

from automodel_retrieval.config import Retrieval
from automodel_retrieval.models.bi_encoder import BiEncoder
from automodel_retrieval.models.bi_encoder_adapter import ROUTES

_TRANSFORMER: Final = "sentence_transformers.models.Transformer"
_POOLING: Final = "sentence_transformers.models.Pooling"
_NORMALIZE: Final = "sentence_transformers.models.Normalize"
_ROUTER: Final = "sentence_transformers.models.Router"
_POOLING_FLAGS: Final = {"mean": "mean_tokens", "cls": "cls_token", "last_token": "lasttoken"}


def write_sentence_transformer(model: nn.Module, tokenizer: Any, settings: Retrieval, directory: str) -> None:
    """Write the tokenizer and the module files into ``directory``, where the weights are written too."""
    assert isinstance(model, BiEncoder)
    root = Path(directory)
    if model.shared:
        _write_encoder(root, tokenizer, max(settings.query_max_length, settings.document_max_length))
        modules = [("", _TRANSFORMER), ("1_Pooling", _POOLING)]
        _write_json(root / "1_Pooling" / "config.json", _pooling(model, "encoder"))
        if model.normalize:
            modules.append(("2_Normalize", _NORMALIZE))
            (root / "2_Normalize").mkdir(exist_ok=True)
    else:
        tokenizer.save_pretrained(root)
        modules = [("", _ROUTER)]
        _write_router(root, model, tokenizer, settings)
    listed = [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(modules)]
    _write_json(root / "modules.json", listed)
    prompts = {"query": settings.query_prompt, "document": settings.document_prompt}
    config = {
        "model_type": "SentenceTransformer",
        "prompts": prompts,
        "default_prompt_name": None,
        "similarity_fn_name": "cosine" if model.normalize else "dot",
    }
    _write_json(root / "config_sentence_transformers.json", config)


def _write_router(root: Path, model: BiEncoder, tokenizer: Any, settings: Retrieval) -> None:
    """Write a route for queries and one for documents, as sentence-transformers' own ``Router`` does."""
    lengths = {"query": settings.query_max_length, "document": settings.document_max_length}
    types: dict[str, str] = {}
    structure: dict[str, list[str]] = {}
    for side, length in lengths.items():
        names = {ROUTES[f"{side}_encoder"]: _TRANSFORMER, f"{side}_1_Pooling": _POOLING}
        if model.normalize:
            names[f"{side}_2_Normalize"] = _NORMALIZE
        types |= names
        structure[side] = list(names)
        _write_encoder(root / ROUTES[f"{side}_encoder"], tokenizer, length)
        _write_json(root / f"{side}_1_Pooling" / "config.json", _pooling(model, f"{side}_encoder"))
        if model.normalize:
            (root / f"{side}_2_Normalize").mkdir(exist_ok=True)
    parameters = {"default_route": "document", "allow_empty_key": True}
    _write_json(root / "router_config.json", {"types": types, "structure": structure, "parameters": parameters})


def _write_encoder(directory: Path, tokenizer: Any, length: int) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(directory)
    _write_json(directory / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})


def _pooling(model: BiEncoder, tower: str) -> dict[str, Any]:
    """Return the pooling in the flags that every release of sentence-transformers reads."""
    size = model.towers()[tower].config.get_text_config().hidden_size
    flags = {f"pooling_mode_{flag}": name == model.pooling for name, flag in _POOLING_FLAGS.items()}
    return {"word_embedding_dimension": size, **flags, "include_prompt": True}


def _write_json(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
