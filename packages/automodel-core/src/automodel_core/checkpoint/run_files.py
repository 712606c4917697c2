"""The files of ``state/``: what a run needs beside the weights to go on exactly where it stood."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from automodel_core.checkpoint.optimizer_state import OptimizerState


@attrs.frozen
class SavedState:
    """The state of a run.

    ``progress`` and ``data`` are the state dicts of the step scheduler and the batch stream, ``lr_scheduler`` that of
    the schedule or ``None``; ``random`` holds the generators of this rank; ``config`` is the resolved config.
    """

    progress: Mapping[str, Any]
    data: Mapping[str, Any]
    lr_scheduler: Mapping[str, Any] | None
    optimizer: OptimizerState | None
    random_tensors: Mapping[str, torch.Tensor]
    random_values: Mapping[str, Any]
    config: Mapping[str, Any]
    parts: Mapping[str, Mapping[str, torch.Tensor]] = attrs.field(factory=dict)
    """The tensors of the domain's own parts, by the names of their files."""
    base: str | None = None
    """The digest of the weights that adapters were trained on."""


class StateError(ValueError):
    """A file of the state is missing, unreadable or lacks something."""


def write_state(state: SavedState, directory: Path, *, rank: int = 0) -> None:
    """Write ``state`` below ``directory``, which is made."""
    directory.mkdir(parents=True)
    values: dict[str, Any] = {
        "progress": state.progress,
        "data": state.data,
        "lr_scheduler": state.lr_scheduler,
    }
    if state.optimizer is not None:
        values["optimizer"] = {"groups": state.optimizer.groups, "values": state.optimizer.values}
        save_file(_writable(state.optimizer.tensors), directory / "optimizer.safetensors")
    for name, tensors in state.parts.items():
        save_file(_writable(tensors), directory / f"{name}.safetensors")
    values["parts"] = list(state.parts)
    values["base"] = state.base
    _write_json(directory / "training.json", values)
    _write_json(directory / "config.json", state.config)
    save_file(dict(state.random_tensors), directory / f"random-{rank:05d}.safetensors")
    _write_json(directory / f"random-{rank:05d}.json", state.random_values)


def _writable(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}


def _write_json(path: Path, value: Any) -> None:
    try:
        text = json.dumps(value, indent=1)
    except (TypeError, ValueError) as error:
        raise StateError(f"`{path.name}` would hold a value that JSON has no word for: {error}") from error
    path.write_text(text + "\n", encoding="utf-8")


def read_state(directory: Path, *, rank: int = 0) -> SavedState:
    """Return the state below ``directory``. Raises :class:`StateError` naming the file that cannot be used."""
    path = directory / "training.json"
    training = _read_json(path)
    optimizer = None
    if "optimizer" in training:
        tensors = _read_tensors(directory / "optimizer.safetensors")
        parts = _entry(training, "optimizer", path)
        optimizer = OptimizerState(tensors, _entry(parts, "values", path), tuple(_entry(parts, "groups", path)))
    return SavedState(
        progress=_entry(training, "progress", path),
        data=_entry(training, "data", path),
        lr_scheduler=_entry(training, "lr_scheduler", path),
        optimizer=optimizer,
        random_tensors=_read_tensors(directory / f"random-{rank:05d}.safetensors"),
        random_values=_read_json(directory / f"random-{rank:05d}.json"),
        config=read_config(directory),
        parts={name: _read_tensors(directory / f"{name}.safetensors") for name in training.get("parts", ())},
        base=training.get("base"),
    )


def read_base(directory: Path) -> str | None:
    """Return the digest of the weights below the adapters. Raises :class:`StateError` when it cannot be read."""
    base = _read_json(directory / "training.json").get("base")
    return base if isinstance(base, str) else None


def _entry(values: Any, key: str, path: Path) -> Any:
    if not isinstance(values, Mapping) or key not in values:
        raise StateError(f"`{path}` lacks `{key}`")
    return values[key]


def read_config(directory: Path) -> dict[str, Any]:
    """Return the resolved config below the state ``directory``. Raises :class:`StateError` when it cannot be read."""
    return _read_json(directory / "config.json")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StateError(f"`{path}` cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise StateError(f"`{path}` holds no object")
    return value


def _read_tensors(path: Path) -> dict[str, torch.Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise StateError(f"`{path}` cannot be read: {error}") from error
