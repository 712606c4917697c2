"""Fine-tuning and pretraining of causal language models. What differs between the two is the config."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import attrs
from torch import nn

from automodel_core.adapters.location import model_directory
from automodel_core.adapters.model_class import TransformersModelClass
from automodel_core.config import RunConfig
from automodel_core.config.components import build_component, resolve_target
from automodel_core.data.loader import OrderedLoader
from automodel_core.data.preview import DataPreview
from automodel_core.diagnostics import Diagnostic
from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.infrastructure.blueprint import Blueprint
from automodel_core.specs import NOTHING
from automodel_core.training.batches import Batch, StepLoss, add_losses
from automodel_core.training.component_check import check_components, complete_component
from automodel_core.training.device import to_device
from automodel_core.training.model_component import build_model_component
from automodel_core.training.recipe import BaseRecipe
from automodel_core.training.run_state import ModelState, RunState
from automodel_llm.data.chat.template import with_chat_template
from automodel_llm.data.collate import PaddedCollate
from automodel_llm.data.preview import preview_text
from automodel_llm.data.prompt_answer import IGNORED
from automodel_llm.data.tokenizer import load_tokenizer
from automodel_llm.losses.loss_check import check_loss
from automodel_llm.losses.token_loss import SummedTokenLoss, as_sum


class TrainFinetuneRecipe(BaseRecipe):
    """Next-token prediction over supervised positions: full, LoRA or from scratch."""

    def build_processor(self, config: RunConfig) -> Any:
        """Return the tokenizer that is saved: ``tokenizer``'s, else the data's, else the model's when it has one.

        It has the chat template that ``dataset`` names, if it names one: what is trained in one form is used in it.
        """
        tokenizer = _tokenizer(config)
        template = None if config.dataset is None else config.dataset.kwargs.get("chat_template")
        return with_chat_template(tokenizer, template) if tokenizer is not NOTHING and template else tokenizer

    def build_model(self, config: RunConfig) -> Blueprint | nn.Module:
        """Return the model that ``model._target_`` describes, on the meta device where its class can."""
        return build_model_component(config.model, config.vocabulary)

    def build_dataloader(self, config: RunConfig, split: str, processor: Any) -> Any:
        """Return the micro-batches of ``dataset``, or of ``validation_dataset`` in their own order."""
        if config.packed_sequence.enabled:
            message = "`packed_sequence.enabled: true` is not available yet"
            helps = ("set it to `false`: batches are then padded to their longest sample",)
            raise InputError(Diagnostic("AM340", message, config.span("packed_sequence.enabled"), helps=helps))
        training = split == "train"
        component = complete_component(config, "dataset" if training else "validation_dataset")
        if component is None:
            return NOTHING
        with placed_at(component.span, component.key_spans):
            dataset = build_component(component, config.vocabulary)
        train, held_out = config.dataloader, config.validation_dataloader
        return OrderedLoader(
            dataset,
            batch_size=train.batch_size if training else held_out.batch_size or train.batch_size,
            collate=PaddedCollate(_pad_id(processor)),
            seed=config.rng.seed,
            shuffle=train.shuffle and training,
            num_workers=train.num_workers if training or held_out.num_workers is None else held_out.num_workers,
            pin_memory=train.pin_memory if training or held_out.pin_memory is None else held_out.pin_memory,
        )

    def preview_data(self, split: str, rows: int) -> DataPreview:
        """Return samples as text with what is learned of them, and figures over all of ``split``."""
        check_components(self.config)
        processor = self.host.build("build_processor", config=self.config)
        loader = self.host.build("build_dataloader", config=self.config, split=split, processor=processor)
        if loader is NOTHING:
            section = "dataset" if split == "train" else "validation_dataset"
            raise InputError(Diagnostic("AM303", f"the config has no `{section}` to preview"))
        return preview_text(loader, processor, split, rows)

    def check_before_training(self, state: ModelState, loader: OrderedLoader) -> None:
        """Check the batch's keys, the precision, and that the model embeds every token of the tokenizer."""
        super().check_before_training(state, loader)
        check_vocabulary(state)

    def build_loss_fn(self, config: RunConfig) -> SummedTokenLoss:
        """Return ``loss_fn`` as a sum over supervised tokens; cross-entropy when the config names none."""
        if config.loss_fn is None:
            return as_sum(nn.CrossEntropyLoss())
        try:
            loss = as_sum(build_component(config.loss_fn, config.vocabulary))
            check_loss(loss, config.loss_fn.target)
            return loss
        except ValueError as error:
            raise InputError(Diagnostic("AM341", str(error), config.span("loss_fn"))) from None

    def count_targets(self, batch: Batch) -> int:
        """Return the number of supervised tokens."""
        return int((batch["labels"] != IGNORED).sum())

    def forward_backward(self, run: RunState, group: Sequence[Batch], normaliser: float) -> StepLoss:
        """Accumulate the gradients of the group's summed loss over ``normaliser``."""
        losses = []
        for batch in group:
            loss = token_loss(run, batch)
            (loss.total / normaliser).backward()
            losses.append(attrs.evolve(loss, total=loss.total.detach()))
        return add_losses(losses)

    def evaluate(self, run: RunState, batch: Batch) -> StepLoss:
        """Return the summed loss of a validation batch."""
        return token_loss(run, batch)

    def export_model(self, run: RunState, directory: str) -> bool:
        """Write the tokenizer beside the weights."""
        if run.processor is not NOTHING:
            run.processor.save_pretrained(directory)
        return True


def check_vocabulary(state: ModelState) -> None:
    """Raise :class:`InputError` when the tokenizer has ids that the model's embedding lacks."""
    if state.processor is NOTHING:
        return
    embedding = state.model.get_input_embeddings()  # type: ignore[operator]
    known, embedded = len(state.processor), embedding.num_embeddings
    if known > embedded:
        message = f"the tokenizer has {known} tokens and the model embeds {embedded}"
        helps = (
            "name the tokenizer that belongs to the model in `tokenizer.name_or_path`",
            "after adding tokens, save the model with `resize_token_embeddings` of transformers",
        )
        raise InputError(Diagnostic("AM434", message, state.config.span("model.name_or_path"), helps=helps))


def token_loss(run: RunState, batch: Batch) -> StepLoss:
    """Return the summed loss over the supervised tokens of ``batch``, with its graph.

    The output head sees only positions from which some row is supervised, where the model can leave the others out:
    a prompt costs no logits.
    """
    labels = batch["labels"]
    mask = batch.get("attention_mask")
    tokens = int(mask.sum()) if mask is not None else labels.numel()
    supervised = (labels != IGNORED).any(0).nonzero().flatten()
    inputs = to_device({k: v for k, v in batch.items() if k != "labels"}, run.device)
    if 0 < len(supervised) < labels.shape[1] - 1 and _keeps_logits(type(run.model).forward):
        inputs["logits_to_keep"] = supervised.to(run.device)
        labels = labels[:, supervised]
    logits = run.model(**inputs, use_cache=False).logits
    total = run.loss_fn(logits, labels.to(run.device))
    return StepLoss(total, int((labels != IGNORED).sum()), tokens, sequences=len(labels))


@lru_cache
def _keeps_logits(forward: Callable[..., Any]) -> bool:
    return "logits_to_keep" in inspect.signature(forward).parameters


def _tokenizer(config: RunConfig) -> Any:
    section = config.tokenizer
    if section.name_or_path is not None:
        return load_tokenizer(section.name_or_path, trust_remote_code=section.trust_remote_code)
    name = _dataset_tokenizer(config)
    if name is None:
        name = _model_name(config)
        _check_model_is_there(config)
    try:
        return load_tokenizer(name) if name is not None else NOTHING
    except InputError:
        return NOTHING  # a model directory need not hold a tokenizer; a data set that needs one says so


def _dataset_tokenizer(config: RunConfig) -> str | None:
    """Return the tokenizer that the data are written with: what is trained in it is used in it."""
    name = None if config.dataset is None else config.dataset.kwargs.get("tokenizer_name_or_path")
    return name if isinstance(name, str) else None


def _check_model_is_there(config: RunConfig) -> None:
    """Raise the model's own :class:`InputError` before a tokenizer or a data set is looked for in the same place."""
    name = _model_name(config)
    target = resolve_target(config.model, config.vocabulary)
    owner = target if isinstance(target, type) else getattr(target, "__self__", None)
    if name is not None and isinstance(owner, type) and issubclass(owner, TransformersModelClass):
        revision = config.model.kwargs.get("revision")
        with placed_at(config.model.span, config.model.key_spans):
            model_directory(name, revision=revision if isinstance(revision, str) else None, weights=False)


def _model_name(config: RunConfig) -> str | None:
    name = config.model.kwargs.get("name_or_path")
    return name if isinstance(name, str) else None


def _pad_id(processor: Any) -> int:
    """Return the id that fills rows: any id will do, since labels alone say what is supervised."""
    ids = (None, None) if processor is NOTHING else (processor.pad_token_id, processor.eos_token_id)
    return next((i for i in ids if i is not None), 0)


main = TrainFinetuneRecipe.main
