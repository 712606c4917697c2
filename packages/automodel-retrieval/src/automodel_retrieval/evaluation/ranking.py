"""Recall, reciprocal rank and discounted gain of rankings (Järvelin and Kekäläinen 2002 for nDCG)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch


def ranks_of(scores_N: torch.Tensor, relevant: Sequence[int]) -> list[int]:
    """Return the ranks (1 is the best) of the ``relevant`` documents, ascending.

    Of documents with equal scores the earlier one is ranked higher.
    """
    order_N = scores_N.argsort(descending=True, stable=True)
    rank_N = torch.empty_like(order_N)
    rank_N[order_N] = torch.arange(1, len(order_N) + 1, device=order_N.device)
    return sorted(int(rank_N[place]) for place in relevant)


def ranking_metrics(ranks: Iterable[Sequence[int]], cutoffs: Sequence[int]) -> dict[str, float]:
    """Return the means over queries, given the ranks of each query's relevant documents.

    ``recall@k`` is the share of the relevant ones among the first k; ``mrr`` the reciprocal rank of the best;
    ``ndcg@k`` the discounted gain, 1 / log2(rank + 1) of each, over that of the best ranking there could be.
    """
    rows = [list(row) for row in ranks]
    if not rows:
        return {}
    metrics = {f"recall@{k}": sum(_recall(row, k) for row in rows) / len(rows) for k in cutoffs}
    metrics["mrr"] = sum(1 / row[0] for row in rows) / len(rows)
    last = max(cutoffs)
    metrics[f"ndcg@{last}"] = sum(_ndcg(row, last) for row in rows) / len(rows)
    return metrics


def _recall(ranks: Sequence[int], k: int) -> float:
    return sum(rank <= k for rank in ranks) / len(ranks)


def _ndcg(ranks: Sequence[int], k: int) -> float:
    gain = _gain([rank for rank in ranks if rank <= k])
    return gain / _gain(range(1, min(len(ranks), k) + 1))


def _gain(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)
