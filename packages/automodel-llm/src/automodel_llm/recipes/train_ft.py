"""Fine-tuning and pretraining of causal language models. What differs between the two is the config."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from torch import nn

from automodel_core.adapters.position_check import check_positions
from automodel_core.adapters.run_tokenizer import tokenizer_of
from automodel_core.adapters.vocabulary_check import check_token_ids, check_vocabulary
from automodel_core.config import RunConfig
from automodel_core.config.components import build_component
from automodel_core.data.loader import OrderedLoader
from automodel_core.data.preview import DataPreview
from automodel_core.diagnostics import Diagnostic
from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.specs import NOTHING
from automodel_core.training.batches import Batch, StepLoss
from automodel_core.training.component_check import check_components
from automodel_core.training.device import to_device
from automodel_core.training.recipe import BaseRecipe
from automodel_core.training.run_state import ModelState
from automodel_llm.data.cached_dataset import CachedDataset
from automodel_llm.data.chat.template import with_chat_template
from automodel_llm.data.collate import PaddedCollate
from automodel_llm.data.mock_dataset import MockDataset
from automodel_llm.data.preview import preview_text
from automodel_llm.data.prompt_answer import IGNORED
from automodel_llm.losses.loss_check import check_loss
from automodel_llm.losses.token_loss import SummedTokenLoss, as_sum


class TrainFinetuneRecipe(BaseRecipe):
    """Next-token prediction over supervised positions: full, LoRA or from scratch."""

    def build_processor(self, config: RunConfig) -> Any:
        """Return the tokenizer that is saved: ``tokenizer``'s, else the data's, else the model's when it has one.

        It has the chat template that ``dataset`` names, if it names one: what is trained in one form is used in it.
        """
        tokenizer = tokenizer_of(config)
        template = None if config.dataset is None else config.dataset.kwargs.get("chat_template")
        if tokenizer is NOTHING or not template:
            return tokenizer
        with placed_at(config.span("dataset.chat_template")):
            return with_chat_template(tokenizer, template)

    def build_collate(self, config: RunConfig, split: str, processor: Any) -> Any:
        """Return what pads samples to the longest."""
        return PaddedCollate(_pad_id(processor))

    def preview_data(self, split: str, rows: int) -> DataPreview:
        """Return samples as text with what is learned of them, and figures over all of ``split``."""
        check_components(self.config)
        processor = self.host.build("build_processor", config=self.config)
        loader = self.host.build("build_dataloader", config=self.config, split=split, processor=processor)
        if loader is NOTHING:
            section = "dataset" if split == "train" else "validation_dataset"
            raise InputError(Diagnostic("AM303", f"the config has no `{section}` to preview"))
        return preview_text(loader, processor, split, rows)

    def check_before_weights(self, state: ModelState, loader: OrderedLoader) -> None:
        """Check the batch's keys, the precision, and that the model knows every token and every position."""
        super().check_before_weights(state, loader)
        if not predicts_tokens(state.model):
            message = f"`{type(state.model).__name__}` does not predict tokens"
            helps = ("set `model._target_: NeMoAutoModelForCausalLM.from_pretrained`",)
            raise InputError(Diagnostic("AM388", message, self.config.span("model._target_"), helps=helps))
        if state.processor is not NOTHING:
            check_vocabulary(state.model, state.processor, self.config.span("model.name_or_path"))
        if isinstance(loader.dataset, MockDataset):
            check_token_ids(state.model, loader.dataset.vocab_size, self.config.span("dataset.vocab_size"))
        if isinstance(loader.dataset, CachedDataset | MockDataset):
            longest = int(loader.dataset.token_counts()[0].max())
            check_positions(state.model, longest, self.config.span("dataset.max_seq_length"))

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

    def batch_loss(self, run: ModelState, batch: Batch) -> StepLoss:
        """Return the summed loss over the supervised tokens of ``batch``, with its graph."""
        return token_loss(run, batch)

    def export_model(self, run: ModelState, directory: str) -> bool:
        """Write the tokenizer beside the weights."""
        if run.processor is not NOTHING:
            run.processor.save_pretrained(directory)
        return True


def token_loss(run: ModelState, batch: Batch) -> StepLoss:
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


def _pad_id(processor: Any) -> int:
    """Return the id that fills rows: any id will do, since labels alone say what is supervised."""
    ids = (None, None) if processor is NOTHING else (processor.pad_token_id, processor.eos_token_id)
    return next((i for i in ids if i is not None), 0)


def predicts_tokens(model: nn.Module) -> bool:
    """Return whether a model has logits over its vocabulary, as far as it says so."""
    head = getattr(model, "get_output_embeddings", None)
    return head is None or head() is not None


main = TrainFinetuneRecipe.main
