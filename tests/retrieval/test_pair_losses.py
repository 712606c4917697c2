"""Losses of a cross-encoder against torch's own."""

import torch

from automodel_retrieval.losses.pair_losses import GroupContrastive, PointwiseBCE

SCORES = torch.tensor([1.0, -0.5, 0.2, 2.0, 0.7])
LABELS = torch.tensor([1.0, 0.0, 0.0, 1.0, 0.0])
GROUP = torch.tensor([0, 0, 0, 1, 1])


def test_pointwise_is_the_sum_of_binary_cross_entropies_with_weighed_positives():
    each = torch.nn.functional.binary_cross_entropy_with_logits(SCORES, LABELS, reduction="none")
    torch.testing.assert_close(PointwiseBCE()(SCORES, LABELS, GROUP), each.sum())
    weighed = (each * torch.where(LABELS == 1, 3.0, 1.0)).sum()
    torch.testing.assert_close(PointwiseBCE(positive_weight=3.0)(SCORES, LABELS, GROUP), weighed)


def test_contrastive_compares_the_documents_of_one_query_alone():
    expected = sum(
        torch.nn.functional.cross_entropy(part[None] / 0.5, torch.tensor([0])) for part in (SCORES[:3], SCORES[3:])
    )
    torch.testing.assert_close(GroupContrastive(temperature=0.5)(SCORES, LABELS, GROUP), expected)
