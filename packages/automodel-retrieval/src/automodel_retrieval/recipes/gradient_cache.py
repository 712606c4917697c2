"""Gradients of a contrastive batch that is larger than memory (GradCache: Gao et al. 2021).

Embeddings are made chunk by chunk without activations; the loss gives their gradients; each chunk is then run again,
with activations and the same dropout, and back-propagates its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import attrs
import torch
from torch import nn

from automodel_retrieval.models.bi_encoder import Side

_SIDES: Final[tuple[Side, ...]] = ("query", "document")


@attrs.frozen
class RandomState:
    """The generators that a forward pass on ``device`` draws from."""

    host: torch.Tensor
    accelerator: torch.Tensor | None
    device: torch.device

    @classmethod
    def now(cls, device: torch.device) -> RandomState:
        """Return the state as it is."""
        accelerator = None if device.type == "cpu" else torch.get_device_module(device).get_rng_state(device)
        return cls(torch.get_rng_state(), accelerator, device)

    def restore(self) -> None:
        """Put the generators back."""
        torch.set_rng_state(self.host)
        if self.accelerator is not None:
            torch.get_device_module(self.device).set_rng_state(self.accelerator, self.device)


@attrs.frozen
class _Chunk:
    side: Side
    tokens: Mapping[str, torch.Tensor]
    state: RandomState


def cached_backward(
    model: nn.Module,
    batch: Mapping[str, Mapping[str, torch.Tensor]],
    chunk_size: int,
    device: torch.device,
    loss_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    normaliser: float,
) -> torch.Tensor:
    """Accumulate the gradients of ``loss_of(queries, documents) / normaliser`` and return the loss, detached.

    ``batch`` has the tokens of both sides on ``device``. The generators end where one forward pass over the chunks
    leaves them.
    """
    chunks: list[_Chunk] = []
    embedded: dict[Side, list[torch.Tensor]] = {side: [] for side in _SIDES}
    with torch.no_grad():
        for side in _SIDES:
            for tokens in _parts(batch[side], chunk_size):
                chunks.append(_Chunk(side, tokens, RandomState.now(device)))
                embedded[side].append(_run(model, side, tokens))
    after = RandomState.now(device)
    leaves = [torch.cat(embedded[side]).requires_grad_() for side in _SIDES]
    total = loss_of(leaves[0], leaves[1])
    (total / normaliser).backward()
    gradients = {side: iter(_gradient(leaf).split(chunk_size)) for side, leaf in zip(_SIDES, leaves, strict=True)}
    for chunk in chunks:
        gradient = next(gradients[chunk.side])
        chunk.state.restore()
        made = _run(model, chunk.side, chunk.tokens)
        if made.requires_grad:  # not that of an encoder whose every weight is frozen
            made.backward(gradient)
    after.restore()
    return total.detach()


def _parts(tokens: Mapping[str, torch.Tensor], size: int) -> Iterator[dict[str, torch.Tensor]]:
    for start in range(0, len(tokens["input_ids"]), size):
        yield {key: value[start : start + size] for key, value in tokens.items()}


def _run(model: nn.Module, side: Side, tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
    query, document = model(**{side: tokens})
    made: torch.Tensor = query if side == "query" else document
    return made


def _gradient(leaf: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
