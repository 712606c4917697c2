"""One safetensors file as weight sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.infrastructure.weights.source import Index, Leaf, WeightSource

_DTYPES: Final = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "U16": torch.uint16,
    "I32": torch.int32,
    "U32": torch.uint32,
    "I64": torch.int64,
    "U64": torch.uint64,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "F32": torch.float32,
    "F64": torch.float64,
}


_MAPPED_BYTES: Final = 128 * 2**20
"""How much of a file may stay in memory after it was read."""


def open_file(path: Path) -> dict[str, WeightSource]:
    """Return a source for every tensor of one safetensors file. Raises :class:`InputError` when it is damaged."""
    file = SafetensorsFile(path)
    return dict(file.leaves())


class SafetensorsFile:
    """A file that is mapped into memory while it is read.

    Pages that were touched count as memory of the process until the mapping goes, so it is renewed every now and then:
    loading needs the model and not the model twice.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: Any = None
        self._touched_bytes = 0

    def leaves(self) -> dict[str, Leaf]:
        """Return a leaf for every tensor."""
        return {key: self._leaf(key) for key in self._opened().keys()}  # noqa: SIM118 (not a mapping)

    def read(self, key: str, index: Index) -> torch.Tensor:
        """Return a part of one tensor. The result is the caller's to copy from, and keeps its own mapping alive."""
        if self._touched_bytes > _MAPPED_BYTES:
            self._handle, self._touched_bytes = None, 0
        handle = self._opened()
        tensor: torch.Tensor = handle.get_slice(key)[index] if index else handle.get_tensor(key)
        self._touched_bytes += tensor.nbytes
        return tensor

    def _opened(self) -> Any:
        if self._handle is None:
            try:
                self._handle = safe_open(self.path, framework="pt")
            except (SafetensorError, OSError) as error:
                raise InputError(
                    Diagnostic(
                        "AM412",
                        f"the weight file `{self.path}` cannot be read: {reason(error)}",
                        helps=("the file is damaged or was not copied whole: fetch or write it again",),
                    )
                ) from error
        return self._handle

    def _leaf(self, key: str) -> Leaf:
        view = self._opened().get_slice(key)
        dtype = _DTYPES.get(view.get_dtype())
        if dtype is None:
            raise InputError(
                Diagnostic(
                    "AM412", f"`{key}` in `{self.path}` has the dtype `{view.get_dtype()}`, which torch does not know"
                )
            )
        return Leaf(key, view.get_shape(), dtype, lambda index: self.read(key, index))


def reason(error: Exception) -> str:
    """Return the first line of an error's message."""
    return str(error).splitlines()[0].strip().rstrip(".") or type(error).__name__
