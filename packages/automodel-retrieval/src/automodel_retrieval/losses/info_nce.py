"""InfoNCE over the documents of a batch, given and of other queries (van den Oord et al. 2018)."""

from __future__ import annotations

import torch
from torch import nn


def same_documents(known_keys_QK2: torch.Tensor, document_keys_D2: torch.Tensor) -> torch.Tensor:
    """Return (Q, D): which documents are the same, by text or by id, as one that answers the query."""
    same_QD = torch.zeros(len(known_keys_QK2), len(document_keys_D2), dtype=torch.bool, device=known_keys_QK2.device)
    # One (Q, D) comparison at a time: all of them at once would be larger than the logits by K.
    for known_Q2 in known_keys_QK2.unbind(1):
        for known_Q, document_D in zip(known_Q2.unbind(1), document_keys_D2.unbind(1), strict=True):
            same_QD |= known_Q[:, None] == document_D[None, :]
    return same_QD


def negatives_of(
    positive_Q: torch.Tensor,
    given_QD: torch.Tensor,
    known_keys_QK2: torch.Tensor,
    document_keys_D2: torch.Tensor,
    *,
    in_batch: bool,
) -> torch.Tensor:
    """Return (Q, D): which documents are negatives of which query.

    Nothing that answers a query is a negative of it, whatever row it came from, and a document that comes twice counts
    once. Documents may be more than those of the queries: with documents gathered from other processes, ``given`` is
    false for theirs and ``positive`` are places among all.
    """
    negatives_QD = torch.ones_like(given_QD) if in_batch else given_QD.clone()
    negatives_QD &= ~same_documents(known_keys_QK2, document_keys_D2)
    earlier_DD = same_documents(document_keys_D2[:, None, :], document_keys_D2).tril(-1)
    if earlier_DD.any():  # never within one batch, where the collate function keeps each document once
        # The first of several equal documents among those that count for the query stands for all of them.
        negatives_QD &= ~((negatives_QD.float() @ earlier_DD.T.float()) > 0)
    negatives_QD[torch.arange(len(positive_Q), device=positive_Q.device), positive_Q] = False
    return negatives_QD


def info_nce(logits_QD: torch.Tensor, positive_Q: torch.Tensor, negatives_QD: torch.Tensor) -> torch.Tensor:
    """Return the summed cross-entropy of each query's positive against its negatives. Sum over queries, 0-d."""
    rows = torch.arange(len(positive_Q), device=logits_QD.device)
    counted_QD = negatives_QD.clone()
    counted_QD[rows, positive_Q] = True
    normaliser_Q = logits_QD.masked_fill(~counted_QD, float("-inf")).logsumexp(1)
    return (normaliser_Q - logits_QD[rows, positive_Q]).sum()


class InfoNCE(nn.Module):
    """The sum over queries of InfoNCE.

    ``in_batch_negatives`` counts the documents of other queries too. ``symmetric`` averages with the loss in the other
    direction: which query a positive belongs to, among those that it does not answer.

    Every argument is a tensor of the batch, so that several processes can pass embeddings and keys that they gathered.
    """

    def __init__(self, in_batch_negatives: bool = True, symmetric: bool = False) -> None:
        super().__init__()
        self.in_batch_negatives = in_batch_negatives
        self.symmetric = symmetric

    def forward(
        self,
        logits_QD: torch.Tensor,
        positive_Q: torch.Tensor,
        given_QD: torch.Tensor,
        known_keys_QK2: torch.Tensor,
        document_keys_D2: torch.Tensor,
    ) -> torch.Tensor:
        """Return the summed loss, 0-d. ``logits`` are similarities over the temperature."""
        negatives_QD = negatives_of(
            positive_Q, given_QD, known_keys_QK2, document_keys_D2, in_batch=self.in_batch_negatives
        )
        total = info_nce(logits_QD, positive_Q, negatives_QD)
        if not self.symmetric:
            return total
        backward_QQ = logits_QD[:, positive_Q].T
        answered_QQ = same_documents(known_keys_QK2, document_keys_D2[positive_Q]).T
        others = ~answered_QQ & ~torch.eye(len(positive_Q), dtype=torch.bool, device=logits_QD.device)
        return (total + info_nce(backward_QQ, torch.arange(len(positive_Q), device=logits_QD.device), others)) / 2
