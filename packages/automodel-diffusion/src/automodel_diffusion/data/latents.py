"""Latents that were computed before: the autoencoder is not asked while training."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_diffusion.data.rows import Entry, EntryDataset, read_entries


class LatentDataset(EntryDataset):
    """Scaled latents (C, H, W): the tensor ``key`` of the safetensors files named in the column ``latent``.

    With a ``label`` or a ``caption``. ``docs/data.md`` says what ``path``, ``split`` and the rest mean.
    """

    latent = True

    def __init__(
        self,
        path: str | Sequence[str],
        latent: str = "latent",
        key: str = "latent",
        label: str | None = None,
        caption: str | None = None,
        split: str = "train",
        validation_fraction: float | None = None,
        split_seed: int = 0,
        limit: int | None = None,
    ) -> None:
        self.key = key
        source = RowSource(path, split, validation_fraction, split_seed, limit)
        super().__init__(read_entries(source, latent, label, caption), self._latent)

    def _latent(self, entry: Entry) -> torch.Tensor:
        try:
            tensors = load_file(entry.file)
        except (OSError, SafetensorError) as error:
            message = f"`{entry.place}`: `{entry.file}` cannot be read as safetensors: {error}"
            raise InputError(Diagnostic("AM473", message)) from None
        found = tensors.get(self.key)
        if found is None or found.dim() != 3:
            held = ", ".join(f"`{name}` {tuple(tensor.shape)}" for name, tensor in tensors.items())
            message = f"`{entry.place}`: `{entry.file}` has no tensor `{self.key}` of three dimensions; it has {held}"
            raise InputError(Diagnostic("AM473", message))
        if found.is_complex():
            message = f"`{entry.place}`: `{self.key}` in `{entry.file}` holds complex numbers"
            raise InputError(Diagnostic("AM473", message))
        return found.float()
