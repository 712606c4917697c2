"""Checkpoint directories of safetensors files as weight sources: headers are read, tensors are not."""

from __future__ import annotations

import json
from pathlib import Path

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.infrastructure.weights.file import open_file, reason
from automodel_core.infrastructure.weights.source import WeightSource
from automodel_core.model_files.weights import (
    STEM,
    absent_shard,
    holds_weights,
    index_file,
    no_weights,
    single_file,
)

__all__ = ["STEM", "holds_weights", "index_file", "open_directory", "single_file"]


def open_directory(directory: Path, stem: str = STEM) -> dict[str, WeightSource]:
    """Return a source for every key of the checkpoint in ``directory``: one file, or the shards that an index names.

    Raises :class:`InputError` when there is no such checkpoint, a shard is missing, a file is damaged, or the index
    and the files disagree.
    """
    if (directory / index_file(stem)).is_file():
        return _open_shards(directory, index_file(stem))
    if (directory / single_file(stem)).is_file():
        return open_file(directory / single_file(stem))
    raise InputError(no_weights(directory, stem))


def _open_shards(directory: Path, index: str) -> dict[str, WeightSource]:
    index_path = directory / index
    weight_map = _read_weight_map(index_path)
    shards = sorted(set(weight_map.values()))
    absent = [shard for shard in shards if not (directory / shard).is_file()]
    if absent:
        raise InputError([absent_shard(directory, shard, index) for shard in absent])
    opened = {shard: open_file(directory / shard) for shard in shards}
    lost = [key for key, shard in weight_map.items() if key not in opened[shard]]
    if lost:
        raise InputError(
            Diagnostic(
                "AM411",
                f"`{index_path}` promises {len(lost)} weights that the files do not hold, first `{lost[0]}`",
                helps=("the files of two checkpoints may be mixed in this directory",),
            )
        )
    return {key: opened[shard][key] for key, shard in weight_map.items()}


def _read_weight_map(path: Path) -> dict[str, str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(Diagnostic("AM412", f"the index `{path}` cannot be read: {reason(error)}")) from error
    weight_map = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(weight_map, dict) or not all(isinstance(shard, str) for shard in weight_map.values()):
        raise InputError(Diagnostic("AM412", f"the index `{path}` has no `weight_map` from names to files"))
    outside = sorted({shard for shard in weight_map.values() if Path(shard).name != shard})
    if outside:
        raise InputError(Diagnostic("AM412", f"the index `{path}` names a file outside its directory: `{outside[0]}`"))
    return weight_map
