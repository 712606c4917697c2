"""Training a cross-encoder to score how well a document answers a query that it reads together with it."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from automodel_core.config import RunConfig
from automodel_core.config.components import resolve_target
from automodel_core.data.loader import OrderedLoader
from automodel_core.training.batches import Batch, StepLoss
from automodel_core.training.device import to_device
from automodel_core.training.run_state import ModelState
from automodel_retrieval.data.joint_collate import CrossEncoderCollate
from automodel_retrieval.evaluation.ranking import ranking_metrics, ranks_of
from automodel_retrieval.losses.pair_losses import GroupContrastive, PointwiseBCE
from automodel_retrieval.recipes.retrieval_recipe import RetrievalRecipe, checked_dataset


class TrainCrossEncoderRecipe(RetrievalRecipe):
    """Pointwise or contrastive training of scores. A target is a pair, of a contrastive loss a query."""

    not_model_inputs: ClassVar[frozenset[str]] = frozenset({"labels", "group"})
    losses = (PointwiseBCE, GroupContrastive)
    length_keys = ("document_max_length",)
    embeds = False

    def build_collate(self, config: RunConfig, split: str, processor: Any) -> CrossEncoderCollate:
        """Return what writes each query with each of its documents."""
        return CrossEncoderCollate(processor, config.retrieval.document_max_length)

    def count_targets(self, batch: Batch) -> int:
        """Return the number of pairs, or of queries."""
        return int(batch["group"][-1]) + 1 if self._per_query else len(batch["labels"])

    @property
    def _per_query(self) -> bool:
        section = self.config.loss_fn
        chosen = self.losses[0] if section is None else resolve_target(section, self.config.vocabulary)
        return isinstance(chosen, type) and issubclass(chosen, GroupContrastive)

    def batch_loss(self, run: ModelState, batch: Batch) -> StepLoss:
        """Return the summed loss over the targets of ``batch``, with its graph."""
        there = to_device(batch, run.device)
        total = run.loss_fn(pair_scores(run, batch), there["labels"], there["group"])
        targets = int(batch["group"][-1]) + 1 if run.loss_fn.per_query else len(batch["labels"])
        return StepLoss(total, targets, int(batch["attention_mask"].sum()), sequences=len(batch["labels"]))

    def measure(self, run: ModelState, name: str, loader: OrderedLoader) -> dict[str, float]:
        """Return how each row's own documents are ranked, its positive among them; none without negatives."""
        checked_dataset(loader)
        ranks: list[list[int]] = []
        for batch in loader.batches(0):
            scores_P = pair_scores(run, batch).float().cpu()
            for row in range(int(batch["group"][-1]) + 1):
                mine_P = batch["group"] == row
                if int(mine_P.sum()) > 1:
                    # Of equal scores the positive is ranked last: a model that tells nothing apart earns nothing.
                    ranks.append(ranks_of(scores_P[mine_P].roll(-1), [int(mine_P.sum()) - 1]))
        return ranking_metrics(ranks, self.config.retrieval.cutoffs)

    def export_model(self, run: ModelState, directory: str) -> bool:
        """Write the tokenizer beside the weights: sentence-transformers' ``CrossEncoder`` needs nothing else."""
        run.processor.save_pretrained(directory)
        return True


def pair_scores(run: ModelState, batch: Batch) -> torch.Tensor:
    """Return the logits of the pairs of ``batch``, (P,), on the device."""
    tokens = {key: value for key, value in batch.items() if key not in ("labels", "group")}
    scores: torch.Tensor = run.model(**to_device(tokens, run.device)).logits.squeeze(-1)
    return scores


main = TrainCrossEncoderRecipe.main
