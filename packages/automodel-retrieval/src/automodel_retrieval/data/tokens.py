"""Texts of one side as tensors, with the side's prompt and longest length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import torch


@attrs.frozen
class SideTokens:
    """Turns texts into ``input_ids`` and ``attention_mask`` of shape (texts, longest), padded as the tokenizer does."""

    tokenizer: Any
    prompt: str
    max_length: int

    def __call__(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """Return the tokens of ``texts``, each after the prompt."""
        encoded = self.tokenizer(
            [self.prompt + text for text in texts],
            padding=True,
            truncation=True,
            max_length=self.max_length,
            return_tensors="pt",
        )
        return {key: encoded[key] for key in ("input_ids", "attention_mask")}
