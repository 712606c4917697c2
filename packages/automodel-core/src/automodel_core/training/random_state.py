"""The random number generators of a process, as values that can be saved without pickling."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed Python's, NumPy's and torch's global generators, on every device."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def random_state() -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the state of every global generator: tensors by name, and the rest as JSON-able values."""
    tensors = {"torch": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors |= {f"cuda:{i}": state for i, state in enumerate(torch.cuda.get_rng_state_all())}
    version, internal, gauss = random.getstate()
    kind, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    tensors["numpy"] = torch.from_numpy(np.asarray(keys, dtype=np.int64))
    values = {
        "python": [version, list(internal), gauss],
        "numpy": [str(kind), int(position), int(has_gauss), float(cached)],
    }
    return tensors, values


def restore_random_state(tensors: Mapping[str, torch.Tensor], values: Mapping[str, Any]) -> None:
    """Put every global generator into the state that :func:`random_state` returned."""
    torch.set_rng_state(tensors["torch"])
    cuda = [tensors[name] for name in sorted(tensors) if name.startswith("cuda:")]
    if cuda and torch.cuda.is_available() and torch.cuda.device_count() == len(cuda):
        torch.cuda.set_rng_state_all(cuda)
    version, internal, gauss = values["python"]
    random.setstate((version, tuple(internal), gauss))
    kind, position, has_gauss, cached = values["numpy"]
    np.random.set_state((kind, tensors["numpy"].numpy().astype(np.uint32), position, has_gauss, cached))
