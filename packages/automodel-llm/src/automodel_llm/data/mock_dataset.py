"""Random tokens, for runs in which only speed and memory count."""

from __future__ import annotations

import random

import numpy as np

from automodel_core.data.fingerprints import digest_of_value
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.cached_dataset import Counts
from automodel_llm.data.prompt_answer import IGNORED, TextSample


class MockDataset:
    """``num_samples`` samples of ``max_seq_length`` random tokens below ``vocab_size``, every one learned.

    A sample is a function of ``seed`` and its index, whoever reads it.
    """

    def __init__(
        self, num_samples: int = 1000, max_seq_length: int = 2048, vocab_size: int = 1024, seed: int = 0
    ) -> None:
        for name, value, least in (
            ("num_samples", num_samples, 1),
            ("max_seq_length", max_seq_length, 2),
            ("vocab_size", vocab_size, 2),
        ):
            if value < least:
                raise InputError(Diagnostic("AM306", f"`{name}` must be at least {least}, it is {value}"))
        self.num_samples = num_samples
        self.max_seq_length = max_seq_length
        self.vocab_size = vocab_size
        self.seed = seed
        self.fingerprint = digest_of_value([num_samples, max_seq_length, vocab_size, seed])

    def __len__(self) -> int:
        return self.num_samples

    def __getitem__(self, index: int) -> TextSample:
        if not 0 <= index < self.num_samples:
            raise IndexError(index)
        draw = random.Random(f"{self.seed}/{index}")
        ids = draw.choices(range(self.vocab_size), k=self.max_seq_length)
        return TextSample(ids, [*ids[1:], IGNORED])

    def token_counts(self) -> tuple[Counts, Counts]:
        """Return, for every sample, how many tokens it has and how many of them are learned."""
        lengths = np.full(self.num_samples, self.max_seq_length)
        return lengths, lengths - 1
