"""Embedding many texts with a model that is not trained meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from automodel_core.training.device import to_device
from automodel_retrieval.data.tokens import SideTokens
from automodel_retrieval.models.bi_encoder import Side


def embed_texts(
    model: nn.Module, side: Side, texts: Sequence[str], tokens: SideTokens, *, batch_size: int, device: torch.device
) -> torch.Tensor:
    """Return the embeddings of ``texts``, (texts, hidden), float32 on the host.

    Texts of like length go through the model together. The caller has the model in eval mode, without gradients.
    """
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    parts: list[torch.Tensor] = []
    for start in range(0, len(order), batch_size):
        batch = tokens([texts[index] for index in order[start : start + batch_size]])
        query, document = model(**{side: to_device(batch, device)})
        parts.append((query if side == "query" else document).to("cpu", torch.float32))
    embedded = torch.cat(parts)
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return embedded[back]
