"""Weight files by name, and the names of the tensors in them: headers are read, tensors are not, and nothing heavy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from automodel_core.diagnostics import Diagnostic

STEM: Final = "model"
"""What transformers begins the names of weight files with."""

_LARGEST_HEADER: Final = 100_000_000
"""Bytes: the format's own limit."""


def single_file(stem: str = STEM) -> str:
    """Return the name of the file that holds all weights."""
    return f"{stem}.safetensors"


def index_file(stem: str = STEM) -> str:
    """Return the name of the index over shards."""
    return f"{stem}.safetensors.index.json"


def holds_weights(directory: Path, stem: str = STEM) -> bool:
    """Return whether ``directory`` has weights under ``stem``, without opening them."""
    return (directory / index_file(stem)).is_file() or (directory / single_file(stem)).is_file()


def no_weights(directory: Path, stem: str = STEM) -> Diagnostic:
    """Return what is said of a directory without weights that can be read safely."""
    pickled = sorted(path.name for path in directory.glob("*.bin") if path.name.startswith("pytorch_model"))
    if pickled:
        return Diagnostic(
            "AM410",
            f"`{directory}` holds its weights as torch pickles (`{pickled[0]}`), which can run code when they are read",
            helps=(
                "convert once, where you trust the file: "
                '`python -c "from transformers import AutoModelForCausalLM as m; '
                f"m.from_pretrained('{directory}').save_pretrained('{directory}-safetensors')\"`",
            ),
        )
    return Diagnostic(
        "AM410",
        f"`{directory}` has no `{single_file(stem)}` and no `{index_file(stem)}`",
        helps=("name a directory that `save_pretrained` wrote, or use `from_config` to start from random weights",),
    )


def absent_shard(directory: Path, shard: str, index: str) -> Diagnostic:
    """Return what is said of a shard that the index names and that is not there."""
    return Diagnostic(
        "AM411",
        f"`{directory}` lacks the weight file `{shard}` that `{index}` names",
        helps=("fetch the missing file, or write the checkpoint again",),
    )


def tensor_names(directory: Path, stem: str = STEM) -> frozenset[str]:
    """Return the names of the tensors in the weight files of ``directory``; none where they cannot be told.

    Of shards the index says them; of one file its header: eight bytes of length, then JSON.
    """
    try:
        if (directory / index_file(stem)).is_file():
            return frozenset(_weight_map(directory, stem))
        return frozenset(_header(directory / single_file(stem))) - {"__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return frozenset()  # whoever opens the weights says what is wrong with them


def shards_of(directory: Path, stem: str = STEM) -> list[str]:
    """Return the files that the index of ``directory`` names; none without an index that can be read."""
    try:
        return sorted({shard for shard in _weight_map(directory, stem).values() if isinstance(shard, str)})
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def _weight_map(directory: Path, stem: str) -> dict[str, Any]:
    index = json.loads((directory / index_file(stem)).read_bytes())
    return dict(index["weight_map"])


def _header(file: Path) -> dict[str, Any]:
    with file.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        if size > _LARGEST_HEADER:
            return {}
        value = json.loads(stream.read(size))
    return value if isinstance(value, dict) else {}
