"""Two texts, each encoded on its own, compared by the dot product of their embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import torch
from torch import nn
from transformers import PreTrainedModel

from automodel_retrieval.models.pooling import pooled
from automodel_retrieval.models.temperature import Temperature

Side = Literal["query", "document"]
Tokens = Mapping[str, torch.Tensor]
"""``input_ids`` and ``attention_mask`` of shape (texts, longest), and what else the encoder takes."""

SHARED: Final = "encoder"
SEPARATE: Final = ("query_encoder", "document_encoder")


class BiEncoder(nn.Module):
    """One encoder for both sides, or one for each; pooled and normalised embeddings of (texts, hidden).

    ``document`` is ``None`` when queries and documents share an encoder.
    """

    def __init__(
        self,
        query: PreTrainedModel,
        document: PreTrainedModel | None,
        *,
        pooling: str,
        normalize: bool,
        temperature: Temperature,
    ) -> None:
        super().__init__()
        self.pooling = pooling
        self.normalize = normalize
        if document is None:
            self.encoder = query
        else:
            self.query_encoder = query
            self.document_encoder = document
        self.temperature = temperature

    @property
    def shared(self) -> bool:
        """Return whether queries and documents have one encoder."""
        return hasattr(self, SHARED)

    def towers(self) -> dict[str, PreTrainedModel]:
        """Return the encoders by their names in the module, the query's first."""
        names = (SHARED,) if self.shared else SEPARATE
        return {name: self.get_submodule(name) for name in names}  # type: ignore[misc]

    def tower(self, side: Side) -> PreTrainedModel:
        """Return the encoder of ``side``."""
        return self.encoder if self.shared else self.get_submodule(f"{side}_encoder")  # type: ignore[return-value]

    def forward(
        self, query: Tokens | None = None, document: Tokens | None = None
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Return the embeddings of the queries and of the documents, ``None`` for a side that is not given."""
        return (
            None if query is None else self._embedded("query", query),
            None if document is None else self._embedded("document", document),
        )

    def _embedded(self, side: Side, tokens: Tokens) -> torch.Tensor:
        hidden_BTH = self.tower(side)(**tokens).last_hidden_state
        embedding_BH = pooled(hidden_BTH, tokens["attention_mask"], self.pooling)
        return nn.functional.normalize(embedding_BH, dim=-1) if self.normalize else embedding_BH
