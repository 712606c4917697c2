"""Loading a processor, and what it makes of images."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import torch
from PIL import Image
from transformers import AutoProcessor
from transformers.utils import logging as transformers_logging

from automodel_core.adapters.location import model_directory
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


@attrs.frozen(eq=False)
class SeenImages:
    """``tokens`` are the ids that stand for each image in a text; ``inputs`` what the model is given of all of them."""

    tokens: tuple[list[int], ...]
    inputs: dict[str, torch.Tensor]


@lru_cache(maxsize=8)
def load_processor(name_or_path: str, trust_remote_code: bool = False) -> Any:
    """Return the processor in a local directory (no network) or of a hub id.

    Raises :class:`InputError`: AM401 or AM409 when there is no such place, AM370 when it holds no processor of images.
    """
    directory = model_directory(name_or_path, revision=None, weights=False)
    level = transformers_logging.get_verbosity()
    # It says at length which backend it takes, when torchvision is not there.
    transformers_logging.set_verbosity(logging.ERROR)
    loader: Any = AutoProcessor
    try:
        found = loader.from_pretrained(directory, local_files_only=True, trust_remote_code=trust_remote_code)
    except (OSError, ValueError, KeyError, ImportError, TypeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise _no_processor(directory, reason) from None
    finally:
        transformers_logging.set_verbosity(level)
    if not hasattr(found, "image_processor") or getattr(found, "image_token", None) is None:
        raise _no_processor(directory, f"`{type(found).__name__}` has no images")
    return found


def image_token_id(processor: Any) -> int:
    """Return the id of the token that stands for an image before it is looked at."""
    return int(processor.tokenizer.convert_tokens_to_ids(str(processor.image_token)))


def see(processor: Any, images: Sequence[Image.Image]) -> SeenImages:
    """Return what ``processor`` makes of ``images``, each on its own, in one call."""
    if not images:
        return SeenImages((), {})
    made = processor(
        text=[str(processor.image_token)] * len(images),
        images=[[image] for image in images],
        add_special_tokens=False,
        padding=True,
        return_tensors="pt",
    )
    kept = made["attention_mask"].bool()
    tokens = tuple(row[keep].tolist() for row, keep in zip(made["input_ids"], kept, strict=True))
    of_text = {"input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"}
    return SeenImages(tokens, {key: value for key, value in made.items() if key not in of_text})


class ImageLengths:
    """How many tokens an image takes, by its size: asked of the processor once for each size."""

    def __init__(self, processor: Any) -> None:
        self._processor = processor
        self._known: dict[tuple[int, int], int] = {}

    def of(self, size: tuple[int, int]) -> int:
        """Return the tokens of an image of ``size`` (width, height)."""
        if size not in self._known:
            self._known[size] = len(see(self._processor, [Image.new("RGB", size)]).tokens[0])
        return self._known[size]


def _no_processor(directory: Path, reason: str) -> InputError:
    helps = ("name a directory that a processor's `save_pretrained` wrote in `processor.name_or_path`",)
    return InputError(
        Diagnostic("AM370", f"no processor of images can be loaded from `{directory}`: {reason}", helps=helps)
    )
