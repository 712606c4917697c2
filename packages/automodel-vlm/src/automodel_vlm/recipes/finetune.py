"""Fine-tuning of vision-language models: conversations with images, the assistant's turns learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from automodel_core.adapters.run_tokenizer import check_model_is_there, model_name
from automodel_core.adapters.vocabulary_check import check_vocabulary
from automodel_core.config import RunConfig
from automodel_core.data.loader import OrderedLoader
from automodel_core.data.preview import DataPreview
from automodel_core.diagnostics import Diagnostic
from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.training.component_check import check_components
from automodel_core.training.device import to_device
from automodel_core.training.run_state import ModelState
from automodel_llm.data.preview import preview_text
from automodel_llm.data.prompt_answer import IGNORED
from automodel_llm.recipes.train_ft import TrainFinetuneRecipe
from automodel_vlm.data.visual_collate import VisualCollate
from automodel_vlm.data.visual_dataset import VisualDataset
from automodel_vlm.processing import load_processor


class FinetuneRecipe(TrainFinetuneRecipe):
    """Next-token prediction over what the assistant says, given text and images: full, LoRA or from scratch."""

    def build_processor(self, config: RunConfig) -> Any:
        """Return ``processor``'s, else the model's."""
        section = config.processor
        if section.name_or_path is None:
            check_model_is_there(config)
        name = section.name_or_path or model_name(config)
        span = config.span("processor.name_or_path") or config.span("model.name_or_path") or config.model.span
        if name is None:
            helps = ("name the directory of one in `processor.name_or_path`",)
            raise InputError(Diagnostic("AM370", "there is no processor of images and text", span, helps=helps))
        with placed_at(span):
            return load_processor(name, section.trust_remote_code)

    def build_collate(self, config: RunConfig, split: str, processor: Any) -> Any:
        """Return what puts images in their places and pads samples to the longest."""
        tokenizer = processor.tokenizer
        known = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
        return VisualCollate(processor, next(number for number in known if number is not None))

    def check_before_weights(self, state: ModelState, loader: OrderedLoader) -> None:
        """Check the data set's kind, the batch's keys, the precision, and that the model knows every token."""
        if not isinstance(loader.dataset, VisualDataset):
            helps = ("use `VisualChatDataset` or `VisualQuestionDataset`",)
            message = f"`{type(loader.dataset).__name__}` gives no conversations with images"
            raise InputError(Diagnostic("AM375", message, self.config.dataset.span, helps=helps))
        super(TrainFinetuneRecipe, self).check_before_weights(state, loader)
        check_vocabulary(state.model, state.processor.tokenizer, self.config.span("model.name_or_path"))

    def measure(self, run: ModelState, name: str, loader: OrderedLoader) -> Mapping[str, float]:
        """Return the share of samples whose every learned token is the likeliest one: what greedy decoding answers."""
        right = samples = 0
        for batch in loader.batches(0):
            labels = batch["labels"].to(run.device)
            inputs = to_device({key: value for key, value in batch.items() if key != "labels"}, run.device)
            likeliest = run.model(**inputs, use_cache=False).logits.argmax(-1)
            wrong = ((likeliest != labels) & (labels != IGNORED)).any(1)
            right += int((~wrong).sum())
            samples += len(labels)
        return {"exact_match": right / samples} if samples else {}

    def preview_data(self, split: str, rows: int) -> DataPreview:
        """Return samples as text, an image token for each image, and figures that count the images' tokens."""
        check_components(self.config)
        processor = self.host.build("build_processor", config=self.config)
        loader = self.host.build("build_dataloader", config=self.config, split=split, processor=processor)
        if not isinstance(loader, OrderedLoader):
            section = "dataset" if split == "train" else "validation_dataset"
            raise InputError(Diagnostic("AM303", f"the config has no `{section}` to preview"))
        return preview_text(loader, processor.tokenizer, split, rows)


@torch.no_grad()
def answer(run: ModelState, inputs: Mapping[str, torch.Tensor], max_new_tokens: int) -> list[int]:
    """Return the ids that the model adds to ``inputs`` (one row), the likeliest each time."""
    tokenizer = run.processor.tokenizer
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    generate: Any = run.model.generate
    out = generate(**to_device(inputs, run.device), max_new_tokens=max_new_tokens, do_sample=False, pad_token_id=pad)
    return [int(number) for number in out[0, inputs["input_ids"].shape[1] :]]


main = FinetuneRecipe.main
