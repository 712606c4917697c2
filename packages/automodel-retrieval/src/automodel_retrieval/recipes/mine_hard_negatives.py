"""``automodel mine retrieval``: hard negatives for every row of a data set, found by the model itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
import torch

from automodel_core.adapters.tokenizer import tokenizer_fingerprint
from automodel_core.checkpoint.durable import replace_text
from automodel_core.data.fingerprints import digest_of_value
from automodel_core.diagnostics.writing import writing_to
from automodel_core.training.run_state import ModelState
from automodel_core.training.validation import evaluation_mode
from automodel_retrieval.config import Mining
from automodel_retrieval.data.document import Document
from automodel_retrieval.data.retrieval_dataset import RetrievalDataset
from automodel_retrieval.evaluation.embedding import embed_texts
from automodel_retrieval.evaluation.retrieving import distinct_queries, relevant_places
from automodel_retrieval.mining.embedding_store import EmbeddingStore, weights_digest
from automodel_retrieval.mining.search import nearest, search_backend
from automodel_retrieval.mining.selection import Filters, Selection, counts_of, select
from automodel_retrieval.models.bi_encoder import BiEncoder, Side
from automodel_retrieval.recipes.retrieval_recipe import checked_dataset
from automodel_retrieval.recipes.train_bi_encoder import TrainBiEncoderRecipe, side_tokens


class MineHardNegativesRecipe(TrainBiEncoderRecipe):
    """Embeds the corpus and the queries of ``dataset``, and writes its rows again with hard negatives.

    ``mining.output`` then holds ``train.jsonl``, ``report.json``, and the embeddings: a run that is started again goes
    on where it was stopped, and one with other filters embeds nothing anew.
    """

    required_sections: ClassVar[tuple[str, ...]] = ("model", "dataset")
    trains: ClassVar[bool] = False
    splits: ClassVar[tuple[str, ...]] = ("train",)
    alternatives: ClassVar[tuple[str, ...]] = ()
    report: dict[str, Any]

    def execute(self) -> None:
        """Build the data and the model, embed, search, sort out, write."""
        settings: Mining = self.config.mining
        backend = search_backend(settings.search)
        checkpoint, processor = self.begin()
        loader = self.host.build("build_dataloader", config=self.config, split="train", processor=processor)
        dataset = checked_dataset(loader)
        state = self.build_model_state(processor, checkpoint)
        queries = distinct_queries(dataset.rows)
        output = Path(settings.output)
        store = EmbeddingStore(output / "embeddings", self._source(state, dataset, list(queries)))
        with writing_to(output, "mining.output", self.config.span("mining.output")):
            store.prepare(overwrite=settings.overwrite)
            documents_NH = self._embedded(state, store, "document", [document.text for document in dataset.documents])
            queries_QH = self._embedded(state, store, "query", list(queries))
            relevant = relevant_places(queries, dataset.documents)
            chosen = mined(queries_QH, documents_NH, relevant, settings, backend)
            by_query = dict(zip(queries, chosen, strict=True))
            replace_text(output / "train.jsonl", "".join(f"{line}\n" for line in _lines(dataset, by_query)))
            self.report = {
                **counts_of(chosen, settings.negatives_per_query),
                "rows": len(dataset.rows),
                "documents": len(dataset.documents),
                "search": backend,
                "settings": attrs.asdict(settings),
                "source": store.source,
            }
            replace_text(output / "report.json", json.dumps(self.report, indent=1) + "\n")
        print(_summary(self.report, output))

    def _source(self, state: ModelState, dataset: RetrievalDataset, queries: Sequence[str]) -> dict[str, Any]:
        """Return what embeddings depend on."""
        assert isinstance(state.model, BiEncoder)
        section = attrs.asdict(self.config.retrieval)
        return {
            "weights": weights_digest(state.model),
            "pooling": [state.model.pooling, state.model.normalize],
            "tokenizer": tokenizer_fingerprint(state.processor),
            "documents": digest_of_value([document.text for document in dataset.documents]),
            "queries": digest_of_value(list(queries)),
            **{key: section[key] for key in section if key.endswith(("_prompt", "_max_length"))},
        }

    def _embedded(self, state: ModelState, store: EmbeddingStore, side: Side, texts: Sequence[str]) -> torch.Tensor:
        tokens = side_tokens(self.config, state.processor)[side]
        settings: Mining = self.config.mining

        def embed(part: Sequence[str]) -> torch.Tensor:
            with evaluation_mode(state.model):
                return embed_texts(state.model, side, part, tokens, batch_size=settings.batch_size, device=state.device)

        return store.embedded(side, texts, settings.chunk_size, embed)


def mined(
    queries_QH: torch.Tensor,
    documents_NH: torch.Tensor,
    relevant: Sequence[Sequence[int]],
    settings: Mining,
    backend: str,
) -> list[Selection]:
    """Return the negatives of every query. The margins are measured from the lowest score among its positives."""
    filters = Filters(
        settings.negatives_per_query, settings.skip_nearest, settings.absolute_margin, settings.relative_margin
    )
    scores_QK, places_QK = nearest(queries_QH, documents_NH, settings.candidates, backend)
    chosen = []
    for query_H, scores, places, known in zip(
        queries_QH, scores_QK.tolist(), places_QK.tolist(), relevant, strict=True
    ):
        positive_score = float((documents_NH[list(known)] * query_H).sum(-1).min())
        chosen.append(select(places, scores, positive_score, frozenset(known), filters))
    return chosen


def _lines(dataset: RetrievalDataset, by_query: dict[str, Selection]) -> list[str]:
    lines = []
    for row in dataset.rows:
        selection = by_query[row.query]
        negatives = [
            {**_written(dataset.documents[place]), "score": round(score, 6)}
            for place, score in zip(selection.negatives, selection.scores, strict=True)
        ]
        record = {"query": row.query, "positive": [_written(d) for d in row.positives], "negatives": negatives}
        lines.append(json.dumps(record, ensure_ascii=False))
    return lines


def _written(document: Document) -> dict[str, Any]:
    return {"text": document.text} if document.id is None else {"id": document.id, "text": document.text}


def _summary(report: dict[str, Any], output: Path) -> str:
    names = ("queries", "documents", "candidates", "known_positives", "above_absolute_margin", "above_relative_margin")
    counts = " ".join(f"{name}={report[name]}" for name in (*names, "negatives", "queries_without"))
    return f"{counts} written={output / 'train.jsonl'}"


main = MineHardNegativesRecipe.main
