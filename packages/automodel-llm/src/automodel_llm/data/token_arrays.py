"""Samples of many rows as three flat arrays, which a cache can map into memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, Final

import attrs
import numpy as np

from automodel_core.data.array_cache import Arrays
from automodel_llm.data.encoded import Encoded
from automodel_llm.data.prompt_answer import IGNORED, TextSample

TOKENS: Final = "tokens"
TARGETS: Final = "targets"
OFFSETS: Final = "offsets"


@attrs.define
class TokenArraysBuilder:
    """Appends samples; sample ``i`` is the tokens from ``offsets[i]`` to ``offsets[i + 1]``."""

    tokens: array[int] = attrs.field(factory=lambda: array("i"))
    targets: bytearray = attrs.field(factory=bytearray)
    offsets: array[int] = attrs.field(factory=lambda: array("q", [0]))

    def extend(self, samples: Iterable[Encoded]) -> None:
        """Append samples."""
        for sample in samples:
            self.tokens.extend(sample.ids)
            self.targets.extend(sample.targets)
            self.offsets.append(len(self.tokens))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def arrays(self) -> Arrays:
        """Return the arrays."""
        return {
            TOKENS: np.frombuffer(self.tokens, dtype=np.int32),
            TARGETS: np.frombuffer(self.targets, dtype=np.bool_),
            OFFSETS: np.frombuffer(self.offsets, dtype=np.int64),
        }


def sample_at(arrays: Arrays, index: int) -> TextSample:
    """Return a sample, its labels one position ahead of its targets."""
    start, end = int(arrays[OFFSETS][index]), int(arrays[OFFSETS][index + 1])
    ids = arrays[TOKENS][start:end]
    labels = np.full(end - start, IGNORED, dtype=np.int64)
    learned = arrays[TARGETS][start + 1 : end]
    labels[:-1][learned] = ids[1:][learned]
    return TextSample(ids.tolist(), labels.tolist())


def sample_counts(arrays: Arrays) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return, for every sample, how many tokens it has and how many of them are learned."""
    offsets = arrays[OFFSETS]
    learned = np.add.reduceat(arrays[TARGETS].astype(np.int64), offsets[:-1])
    return np.diff(offsets), learned - arrays[TARGETS][offsets[:-1]]
