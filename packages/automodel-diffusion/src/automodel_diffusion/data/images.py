"""Image files with labels or captions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from PIL import Image

from automodel_core.data.image_files import read_image
from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_diffusion.data.rows import Entry, EntryDataset, read_entries

_MODES = {1: "L", 3: "RGB"}


class ImageDataset(EntryDataset):
    """Images named in the column ``image``, with a ``label`` (a class number) or a ``caption``, as pixels in [-1, 1].

    ``size`` is the edge in pixels: the shorter edge is resized to it and the middle kept. ``channels`` is 3 for colour
    and 1 for grey. ``docs/data.md`` says what ``path``, ``split`` and the rest mean.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        size: int,
        channels: int = 3,
        image: str = "image",
        label: str | None = None,
        caption: str | None = None,
        split: str = "train",
        validation_fraction: float | None = None,
        split_seed: int = 0,
        limit: int | None = None,
    ) -> None:
        if channels not in _MODES or size < 1:
            message = f"`channels` must be 1 or 3 and `size` at least 1, they are {channels} and {size}"
            raise InputError(Diagnostic("AM306", message))
        self.size, self.channels = size, channels
        source = RowSource(path, split, validation_fraction, split_seed, limit)
        super().__init__(read_entries(source, image, label, caption), self._pixels)

    def _pixels(self, entry: Entry) -> torch.Tensor:
        picture = _fitted(read_image(entry.file, _MODES[self.channels], entry.place), self.size)
        pixels = torch.from_numpy(np.asarray(picture, dtype=np.float32).copy()) / 127.5 - 1
        return pixels[None] if self.channels == 1 else pixels.permute(2, 0, 1).contiguous()


def _fitted(picture: Image.Image, size: int) -> Image.Image:
    """Return the middle square of ``picture`` with an edge of ``size``."""
    if picture.size == (size, size):
        return picture
    scale = size / min(picture.size)
    width, height = (max(size, round(edge * scale)) for edge in picture.size)
    left, top = (width - size) // 2, (height - size) // 2
    resized = picture.resize((width, height), Image.Resampling.LANCZOS)
    return resized.crop((left, top, left + size, top + size))
