"""Data sets of conversations with images, encoded once and kept in the cache; the pixels are read when asked for."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np

from automodel_core.data.array_cache import Arrays
from automodel_core.data.fingerprints import digest_of_value
from automodel_core.data.image_files import image_size
from automodel_core.data.progress import with_progress
from automodel_core.data.records import Row
from automodel_core.data.row_report import RowReport
from automodel_core.data.row_source import Rows
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.cached_dataset import CachedDataset, Counts
from automodel_llm.data.chat.conversation import Conversation
from automodel_llm.data.chat.encoding import supervisable_parts
from automodel_llm.data.chat.template import ChatTemplate
from automodel_llm.data.encoded import Encoded
from automodel_llm.data.prompt_answer import TextSample
from automodel_llm.data.reasons import NO_ASSISTANT
from automodel_llm.data.token_arrays import TokenArraysBuilder, sample_at, sample_counts
from automodel_vlm.data.image_files import found_images
from automodel_vlm.data.visual_messages import check_places
from automodel_vlm.processing import ImageLengths, image_token_id

TOO_LONG: Final = "longer than `max_seq_length` with their images"
_FILES, _LENGTHS = "image_files", "lengths"
_MOST_PROBLEMS: Final = 20


@attrs.frozen
class VisualSample(TextSample):
    """A sample of text in which one token stands for each of ``images``."""

    images: tuple[Path, ...] = ()


@attrs.frozen
class VisualRow:
    """A conversation and the paths of its images, in the order of their places; ``None`` when nothing is learned."""

    conversation: Conversation | None
    paths: tuple[str, ...]
    places: int


class VisualDataset(CachedDataset):
    """Conversations with images: what the assistant says and the token that ends its turn are learned.

    A row that is longer than ``max_seq_length`` with its images is left out and counted: an image cannot be cut.
    """

    def __init__(self, rows: Rows, processor: Any, max_seq_length: int, *, cache: bool = True) -> None:
        if not hasattr(processor, "tokenizer"):
            helps = ("train it with `automodel finetune vlm`",)
            raise InputError(Diagnostic("AM370", "images need a processor, and the recipe gives none", helps=helps))
        self.processor = processor
        template = getattr(processor, "chat_template", None)
        if template is None:
            helps = ("save the processor with one, or name a processor that has one in `processor.name_or_path`",)
            raise InputError(Diagnostic("AM313", "the processor has no chat template", helps=helps))
        self.template = ChatTemplate(processor.tokenizer, template)
        super().__init__(rows, processor.tokenizer, max_seq_length, cache=cache)

    @abstractmethod
    def visual_row(self, row: Row) -> VisualRow:
        """Return the conversation of a row."""

    def settings(self) -> dict[str, Any]:
        described = json.loads(self.processor.to_json_string())
        return {"processor": digest_of_value(described), "template": self.template.own, "kind": type(self).__name__}

    def encode_rows(self, rows: Rows) -> tuple[Arrays, RowReport]:
        builder, lengths, files = TokenArraysBuilder(), [], []
        dropped: Counter[str] = Counter()
        problems: list[Diagnostic] = []
        sizes = ImageLengths(self.processor)
        for row in with_progress(rows, f"encoding {rows.name}"):
            try:
                found = self._fitting(row, sizes)
            except InputError as error:
                problems.extend(error.diagnostics)
                if len(problems) >= _MOST_PROBLEMS:
                    break
                continue
            if isinstance(found, str):
                dropped[found] += 1
                continue
            images, encoded, length = found
            builder.extend([encoded])
            lengths.append(length)
            files.append([str(image) for image in images])
        if problems:
            raise InputError(problems[:_MOST_PROBLEMS])
        report = RowReport(rows.name, rows.read, len(builder), rows.other_split, 0, dict(dropped))
        named = json.dumps(files).encode("utf-8")
        return {
            **builder.arrays(),
            _LENGTHS: np.array(lengths, dtype=np.int64),
            _FILES: np.frombuffer(named, dtype=np.uint8),
        }, report

    def _fitting(self, row: Row, sizes: ImageLengths) -> tuple[list[Path], Encoded, int] | str:
        made = self.visual_row(row)
        check_places(row, made.places, len(made.paths))
        if made.conversation is None:
            return NO_ASSISTANT
        images = found_images(row, made.paths)
        (_, encoded), *others = supervisable_parts(self.template, made.conversation)
        if others:
            message = (
                f"`{row.place}`: the chat template rewrites earlier turns, which conversations with images cannot have"
            )
            raise InputError(Diagnostic("AM315", message, helps=("set `train_on: last_assistant`",)))
        written = encoded.ids.count(image_token_id(self.processor))
        if written != len(images):
            message = f"`{row.place}`: the chat template writes {written} of {len(images)} images"
            helps = ("the template must write the image token for every part `{type: image}`",)
            raise InputError(Diagnostic("AM374", message, helps=helps))
        seen = sum(sizes.of(image_size(image, row.place)) for image in images)
        length = len(encoded.ids) - len(images) + seen
        return TOO_LONG if length > self.max_seq_length else (images, encoded, length)

    def sample(self, arrays: Arrays, index: int) -> VisualSample:
        text = sample_at(arrays, index)
        return VisualSample(text.input_ids, text.labels, tuple(Path(name) for name in self._files(arrays)[index]))

    def count_tokens(self, arrays: Arrays) -> tuple[Counts, Counts]:
        """Return the tokens of every sample with its images', and how many are learned."""
        return arrays[_LENGTHS], sample_counts(arrays)[1]

    def _files(self, arrays: Arrays) -> list[list[str]]:
        if not hasattr(self, "_named"):
            self._named: list[list[str]] = json.loads(arrays[_FILES].tobytes())
        return self._named
