"""The nearest documents of each query by dot product, exactly: with faiss where it is installed, else with torch."""

from __future__ import annotations

import importlib.util
from typing import Final

import torch

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

_QUERIES_AT_ONCE: Final = 256


def search_backend(asked: str) -> str:
    """Return ``faiss`` or ``torch``. Raises :class:`InputError` (AM391) for faiss where it is not installed."""
    installed = importlib.util.find_spec("faiss") is not None
    if asked == "faiss" and not installed:
        message = "`mining.search: faiss` needs faiss, which is not installed"
        raise InputError(Diagnostic("AM391", message, helps=("pip install faiss-cpu, or use `torch`",)))
    return "faiss" if installed and asked != "torch" else "torch"


def nearest(
    queries_QH: torch.Tensor, documents_NH: torch.Tensor, count: int, backend: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return scores and places, (Q, min(count, N)) each, the nearest first and of equal ones the earlier document.

    Scores are computed anew for what was found, so that both backends give the same ones.
    """
    count = min(count, len(documents_NH))
    find = _with_faiss if backend == "faiss" else _with_torch
    places_QK = find(queries_QH, documents_NH, count).sort(dim=1).values
    scores: list[torch.Tensor] = []
    for start in range(0, len(queries_QH), _QUERIES_AT_ONCE):
        found_QKH = documents_NH[places_QK[start : start + _QUERIES_AT_ONCE]]
        scores.append((found_QKH * queries_QH[start : start + _QUERIES_AT_ONCE, None, :]).sum(-1))
    scores_QK, order_QK = torch.cat(scores).sort(dim=1, descending=True, stable=True)
    return scores_QK, places_QK.gather(1, order_QK)


def _with_torch(queries_QH: torch.Tensor, documents_NH: torch.Tensor, count: int) -> torch.Tensor:
    parts = queries_QH.split(_QUERIES_AT_ONCE)
    return torch.cat([(part @ documents_NH.T).topk(count, dim=1).indices for part in parts])


def _with_faiss(queries_QH: torch.Tensor, documents_NH: torch.Tensor, count: int) -> torch.Tensor:
    import faiss

    index = faiss.IndexFlatIP(documents_NH.shape[1])
    index.add(documents_NH.numpy())
    _, places = index.search(queries_QH.numpy(), count)
    return torch.from_numpy(places)
