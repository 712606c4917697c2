"""What the recipes of bi-encoders and cross-encoders share: the tokenizer, the loss, and figures of rankings."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
from torch import nn

from automodel_core.adapters.position_check import check_positions
from automodel_core.adapters.run_tokenizer import tokenizer_of
from automodel_core.adapters.vocabulary_check import check_vocabulary
from automodel_core.checkpoint.directory import Checkpoint
from automodel_core.config import RunConfig
from automodel_core.config.components import build_component
from automodel_core.data.loader import OrderedLoader
from automodel_core.data.preview import DataPreview
from automodel_core.diagnostics import Diagnostic
from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.infrastructure.build import ModelBuild
from automodel_core.specs import NOTHING
from automodel_core.training.component_check import check_components
from automodel_core.training.recipe import BaseRecipe
from automodel_core.training.run_state import ModelState
from automodel_retrieval.data.preview import preview_pairs
from automodel_retrieval.data.retrieval_dataset import RetrievalDataset
from automodel_retrieval.models.bi_encoder import BiEncoder


class RetrievalRecipe(BaseRecipe):
    """A recipe over queries and documents."""

    losses: ClassVar[tuple[type[nn.Module], ...]]
    """What ``loss_fn`` may be; the first is taken where the config names none."""

    embeds: ClassVar[bool] = True
    """Whether its model is a bi-encoder, which embeds each text by itself."""

    length_keys: ClassVar[tuple[str, ...]] = ("query_max_length", "document_max_length")
    """The keys of ``retrieval`` that say how long what the model reads may be."""

    def build_processor(self, config: RunConfig) -> Any:
        """Return the tokenizer, with a token to pad with. Raises :class:`InputError` (AM310) when there is none."""
        tokenizer = tokenizer_of(config)
        if tokenizer is NOTHING:
            helps = ("name a directory with `tokenizer.json` in `tokenizer.name_or_path`",)
            raise InputError(Diagnostic("AM310", "there is no tokenizer to read texts with", helps=helps))
        if tokenizer.pad_token_id is None:
            tokenizer = copy.copy(tokenizer)
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    def build_loss_fn(self, config: RunConfig) -> nn.Module:
        """Return ``loss_fn``. Raises :class:`InputError` (AM383) for a loss that is not one of the recipe's."""
        if config.loss_fn is None:
            return self.losses[0]()
        with placed_at(config.loss_fn.span, config.loss_fn.key_spans):
            loss = build_component(config.loss_fn, config.vocabulary)
        if not isinstance(loss, self.losses):
            message = f"`loss_fn` is `{config.loss_fn.target}`, which does not compare queries with documents"
            names = " or ".join(f"`automodel_retrieval.{kind.__name__}`" for kind in self.losses)
            raise InputError(Diagnostic("AM383", message, config.span("loss_fn"), helps=(f"use {names}",)))
        return loss

    def preview_data(self, split: str, rows: int) -> DataPreview:
        """Return queries with their documents as text, and figures over all of ``split``."""
        check_components(self.config)
        processor = self.host.build("build_processor", config=self.config)
        loader = self.host.build("build_dataloader", config=self.config, split=split, processor=processor)
        if loader is NOTHING:
            section = "dataset" if split == "train" else "validation_dataset"
            raise InputError(Diagnostic("AM303", f"the config has no `{section}` to preview"))
        checked_dataset(loader)
        return preview_pairs(loader, processor, split, rows)

    def describe_model(self, checkpoint: Checkpoint | None) -> ModelBuild:
        """Describe the model. Raises :class:`InputError` (AM388) for one of the other kind."""
        build = super().describe_model(checkpoint)
        if isinstance(build.model, BiEncoder) is not self.embeds:
            kinds = ("cross-encoder", "bi-encoder")
            wanted, found = kinds[self.embeds], kinds[not self.embeds]
            message = f"`{type(self).__name__}` is for a {wanted}, and `model` is a {found}"
            classes = ("NeMoAutoModelCrossEncoder", "NeMoAutoModelBiEncoder")
            helps = (f"set `model._target_: {classes[self.embeds]}.from_pretrained`, or name another `recipe:`",)
            span = self.config.span("model._target_")
            raise InputError(Diagnostic("AM388", message, span, helps=helps))
        return build

    def check_before_weights(self, state: ModelState, loader: OrderedLoader) -> None:
        """Check the batch's keys, the precision, and that the model has a place for every token and position."""
        dataset = checked_dataset(loader)
        if self.trains and not self.has_contrast(dataset, state.loss_fn):
            raise InputError(self._nothing_to_compare())
        super().check_before_weights(state, loader)
        for encoder in self.encoders_of(state.model):
            check_vocabulary(encoder, state.processor, self.config.span("model.name_or_path"))
            for key in self.length_keys:
                path = f"retrieval.{key}"
                longest = attrs.asdict(self.config.retrieval)[key]
                check_positions(encoder, longest, self.config.span(path), key=path)

    def has_contrast(self, dataset: RetrievalDataset, loss_fn: nn.Module) -> bool:
        """Return whether some query of ``dataset`` sees a document that does not answer it."""
        kept = dataset.negatives_per_query != 0 and any(row.negatives for row in dataset.rows)
        return kept or (dataset.random_negatives > 0 and len(dataset.documents) > 1)

    def _nothing_to_compare(self) -> Diagnostic:
        message = "no query has a document that does not answer it, so there is nothing to learn"
        helps = (
            "set `dataset.random_negatives`, or give rows `negatives`: `automodel mine retrieval` finds some",
            *(("or raise `dataloader.batch_size`: queries then see each other's documents",) if self.embeds else ()),
        )
        return Diagnostic("AM387", message, self.config.span("dataset"), helps=helps)

    def encoders_of(self, model: nn.Module) -> Sequence[nn.Module]:
        """Return the transformers models that read texts."""
        return (model,)


def checked_dataset(loader: OrderedLoader) -> RetrievalDataset:
    """Return the data set of ``loader``. Raises :class:`InputError` (AM384) when it has no queries and documents."""
    if not isinstance(loader.dataset, RetrievalDataset):
        message = f"`{type(loader.dataset).__name__}` is not a data set of queries and documents"
        raise InputError(Diagnostic("AM384", message, helps=("use `automodel_retrieval.RetrievalDataset`",)))
    return loader.dataset
