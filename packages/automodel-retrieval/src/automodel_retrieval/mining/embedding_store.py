"""Embeddings on disk in chunks, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from automodel_core.checkpoint.durable import replace_text
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

_SOURCE: Final = "source.json"
_KEY: Final = "embeddings"
_DIGEST: Final = "sha256"


def weights_digest(model: nn.Module) -> str:
    """Return the digest of every weight of ``model``, with its name."""
    digest = hashlib.sha256()
    for name, weight in sorted(model.state_dict().items()):
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}\n".encode())
        digest.update(weight.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


@attrs.frozen
class EmbeddingStore:
    """Embeddings below ``directory``, all of the source that ``source`` says: model, texts, prompts, lengths."""

    directory: Path
    source: dict[str, Any]

    def prepare(self, *, overwrite: bool) -> None:
        """Make the directory. Raises :class:`InputError` (AM390) when it holds embeddings of another source."""
        marker = self.directory / _SOURCE
        if marker.is_file():
            held = _read(marker)
            if held == self.source:
                return
            if not overwrite:
                changed = sorted(k for k in self.source.keys() | held.keys() if self.source.get(k) != held.get(k))
                message = f"`{self.directory}` holds embeddings of another source: {', '.join(changed)} changed"
                helps = ("give `mining.output` another directory, or set `mining.overwrite: true`",)
                raise InputError(Diagnostic("AM390", message, helps=helps))
            shutil.rmtree(self.directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        replace_text(marker, json.dumps(self.source, indent=1, sort_keys=True) + "\n")

    def embedded(
        self, name: str, texts: Sequence[str], chunk_size: int, embed: Callable[[Sequence[str]], torch.Tensor]
    ) -> torch.Tensor:
        """Return the embeddings of ``texts``; those of chunks that are on disk are read, the others made and saved."""
        return torch.cat(list(self._chunks(name, texts, chunk_size, embed)))

    def _chunks(
        self, name: str, texts: Sequence[str], size: int, embed: Callable[[Sequence[str]], torch.Tensor]
    ) -> Iterator[torch.Tensor]:
        for start in range(0, len(texts), size):
            part = texts[start : start + size]
            path = self.directory / f"{name}-{start:010d}-{len(part)}.safetensors"
            found = _saved(path)
            if found is None:
                found = embed(part)
                partial = path.with_name(f".{path.name}.partial")
                try:
                    save_file({_KEY: found.contiguous()}, partial, metadata={_DIGEST: _digest(found)})
                except SafetensorError as error:  # how the library reports a full disk
                    raise OSError(str(error)) from error
                os.replace(partial, path)
            yield found


def _saved(path: Path) -> torch.Tensor | None:
    """Return what a chunk's file holds, ``None`` when there is no whole one."""
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            found: torch.Tensor = file.get_tensor(_KEY)
            return found if (file.metadata() or {}).get(_DIGEST) == _digest(found) else None
    except (SafetensorError, KeyError):
        return None


def _digest(embeddings: torch.Tensor) -> str:
    return hashlib.sha256(embeddings.contiguous().numpy().tobytes()).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
