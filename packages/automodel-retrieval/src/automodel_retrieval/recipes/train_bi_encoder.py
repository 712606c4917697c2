"""Training a bi-encoder to put queries near the documents that answer them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import nn

from automodel_core.config import RunConfig
from automodel_core.config.batch import accumulation_steps
from automodel_core.data.loader import OrderedLoader
from automodel_core.diagnostics import Diagnostic, render
from automodel_core.training.batches import Batch, StepLoss, add_losses
from automodel_core.training.device import to_device
from automodel_core.training.run_state import ModelState, RunState
from automodel_retrieval.data.collate import BiEncoderCollate
from automodel_retrieval.data.retrieval_dataset import RetrievalDataset
from automodel_retrieval.data.tokens import SideTokens
from automodel_retrieval.evaluation.embedding import embed_texts
from automodel_retrieval.evaluation.ranking import ranking_metrics
from automodel_retrieval.evaluation.retrieving import distinct_queries, ranks_in_corpus, relevant_places
from automodel_retrieval.export.bi_encoder_files import write_sentence_transformer
from automodel_retrieval.losses.info_nce import InfoNCE
from automodel_retrieval.models.bi_encoder import BiEncoder, Side
from automodel_retrieval.recipes.gradient_cache import cached_backward
from automodel_retrieval.recipes.retrieval_recipe import RetrievalRecipe, checked_dataset


class TrainBiEncoderRecipe(RetrievalRecipe):
    """Contrastive training of embeddings: full, LoRA or from scratch. A target is a query."""

    not_model_inputs: ClassVar[frozenset[str]] = frozenset({"positive", "given", "document_keys", "known_keys"})
    alternatives: ClassVar[tuple[str, ...]] = (
        "automodel_retrieval.recipes.train_cross_encoder:TrainCrossEncoderRecipe",
    )
    losses = (InfoNCE,)

    def build_collate(self, config: RunConfig, split: str, processor: Any) -> BiEncoderCollate:
        """Return what pads queries and documents apart, and keeps each document once."""
        sides = side_tokens(config, processor)
        return BiEncoderCollate(sides["query"], sides["document"])

    def check_before_weights(self, state: ModelState, loader: OrderedLoader) -> None:
        """Check the model and the data, and say how many negatives a query has where that is often mistaken."""
        super().check_before_weights(state, loader)
        warning = negatives_warning(self.config)
        if warning is not None:
            print(render([warning], sys.stderr), end="", file=sys.stderr, flush=True)

    def has_contrast(self, dataset: RetrievalDataset, loss_fn: nn.Module) -> bool:
        """Return whether a query has negatives, or sees those of other queries in its micro-batch."""
        others = self.config.dataloader.batch_size > 1 and len(dataset) > 1 and len(dataset.documents) > 1
        in_batch = isinstance(loss_fn, InfoNCE) and loss_fn.in_batch_negatives
        return (in_batch and others) or super().has_contrast(dataset, loss_fn)

    def encoders_of(self, model: nn.Module) -> Sequence[nn.Module]:
        """Return the encoder, or the query's and the document's."""
        assert isinstance(model, BiEncoder)
        return tuple(model.towers().values())

    def count_targets(self, batch: Batch) -> int:
        """Return the number of queries."""
        return len(batch["positive"])

    def forward_backward(self, run: RunState, group: Sequence[Batch], normaliser: float) -> StepLoss:
        """Accumulate the group's gradients, with the activations of one chunk at a time where the config says so."""
        chunk = self.config.retrieval.gradient_cache_chunk
        if chunk is None:
            return super().forward_backward(run, group, normaliser)
        losses = []
        for batch in group:
            there = to_device(batch, run.device)

            def loss_of(queries_QH: torch.Tensor, documents_DH: torch.Tensor, there: Batch = there) -> torch.Tensor:
                return contrastive_loss(run, queries_QH, documents_DH, there)

            total = cached_backward(run.model, there, chunk, run.device, loss_of, normaliser)
            losses.append(step_loss(total, batch))
        return add_losses(losses)

    def batch_loss(self, run: ModelState, batch: Batch) -> StepLoss:
        """Return the summed loss over the queries of ``batch``, with its graph."""
        there = to_device(batch, run.device)
        queries_QH, documents_DH = run.model(query=there["query"], document=there["document"])
        return step_loss(contrastive_loss(run, queries_QH, documents_DH, there), batch)

    def measure(self, run: ModelState, name: str, loader: OrderedLoader) -> dict[str, float]:
        """Return recall, reciprocal rank and nDCG of every query over all documents of the data set or its corpus."""
        dataset = checked_dataset(loader)
        queries = distinct_queries(dataset.rows)
        sides = side_tokens(self.config, run.processor)

        def embed(side: Side, texts: list[str]) -> torch.Tensor:
            return embed_texts(run.model, side, texts, sides[side], batch_size=loader.batch_size, device=run.device)

        corpus_NH = embed("document", [document.text for document in dataset.documents])
        ranks = ranks_in_corpus(embed("query", list(queries)), corpus_NH, relevant_places(queries, dataset.documents))
        return ranking_metrics(ranks, self.config.retrieval.cutoffs)

    def export_model(self, run: ModelState, directory: str) -> bool:
        """Write the tokenizer, and what sentence-transformers reads beside the weights."""
        write_sentence_transformer(run.model, run.processor, self.config.retrieval, directory)
        return True


def contrastive_loss(
    run: ModelState, queries_QH: torch.Tensor, documents_DH: torch.Tensor, batch: Mapping[str, torch.Tensor]
) -> torch.Tensor:
    """Return the summed loss of the embeddings of ``batch``, which is on the device.

    With several processes, this is where the documents, ``given`` and ``document_keys`` of the others are joined to
    these and ``positive`` becomes a place among all of them.
    """
    logits_QD = run.model.temperature.scaled(queries_QH.float() @ documents_DH.float().T)  # type: ignore[operator, union-attr]
    total: torch.Tensor = run.loss_fn(
        logits_QD, batch["positive"], batch["given"], batch["known_keys"], batch["document_keys"]
    )
    return total


def step_loss(total: torch.Tensor, batch: Batch) -> StepLoss:
    """Return the loss with the queries, tokens and texts of ``batch``."""
    masks = [batch[side]["attention_mask"] for side in ("query", "document")]
    return StepLoss(total, len(batch["positive"]), sum(int(m.sum()) for m in masks), sum(len(m) for m in masks))


def side_tokens(config: RunConfig, tokenizer: Any) -> dict[Side, SideTokens]:
    """Return how the texts of each side become tokens."""
    section = config.retrieval
    return {
        "query": SideTokens(tokenizer, section.query_prompt, section.query_max_length),
        "document": SideTokens(tokenizer, section.document_prompt, section.document_max_length),
    }


def negatives_warning(config: RunConfig) -> Diagnostic | None:
    """Return how many negatives a query really has, when accumulation may be thought to add to them."""
    accumulated, size = accumulation_steps(config, 1), config.dataloader.batch_size
    if accumulated == 1:
        return None
    message = (
        f"accumulation adds no negatives: a query is compared with the documents of its own micro-batch, those of "
        f"{size - 1} other queries, not of {accumulated * size - 1}"
    )
    helps = (
        f"for those of {accumulated * size - 1}, set `dataloader.batch_size: {accumulated * size}`, "
        f"`step_scheduler.grad_accumulation_steps: 1` and `retrieval.gradient_cache_chunk: {size}`",
    )
    return Diagnostic(
        "AM399", message, config.span("step_scheduler.grad_accumulation_steps"), helps=helps, severity="warning"
    )


main = TrainBiEncoderRecipe.main
