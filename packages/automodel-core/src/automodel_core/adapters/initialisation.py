"""A transformers model's own initialisation code: recorded for its weights, run for its unsaved buffers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import PreTrainedModel
from transformers.initialization import guard_torch_init_functions

from automodel_core.errors import AutomodelError
from automodel_core.infrastructure.weights.recording import InitialisationStep

_DONE = "_is_hf_initialized"
"""transformers' mark on a weight that its initialisation code must leave alone."""


def initialisation_steps(model: PreTrainedModel) -> list[InitialisationStep]:
    """Return the calls of ``_init_weights`` in transformers' order: children first, each by its sub-model's code."""
    return list(_steps("", model, model))


def _steps(name: str, module: nn.Module, owner: PreTrainedModel) -> Iterator[InitialisationStep]:
    for child_name, child in module.named_children():
        child_owner = child if isinstance(child, PreTrainedModel) else owner
        yield from _steps(f"{name}.{child_name}" if name else child_name, child, child_owner)
    yield InitialisationStep(name, module, owner._init_weights)


def unsaved_buffers(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return the buffers that no checkpoint holds, by name."""
    saved = set(model.state_dict(keep_vars=True))
    return {name: buffer for name, buffer in model.named_buffers(remove_duplicate=False) if name not in saved}


def rebuild_unsaved_buffers(model: PreTrainedModel) -> None:
    """Compute the buffers that no checkpoint holds (rotary frequencies, position tables) where they are.

    Their values come from ``_init_weights``, as in ``from_pretrained``; every saved weight is marked as done meanwhile,
    which that code respects. Raises :class:`AutomodelError` for a buffer that the model's code does not compute.
    """
    wanted = unsaved_buffers(model)
    if not wanted:
        return
    done = {id(weight): weight for weight in model.state_dict(keep_vars=True).values()}.values()
    written = _Written()
    for weight in done:
        setattr(weight, _DONE, True)
    try:
        with torch.no_grad(), guard_torch_init_functions(), written:
            for step in initialisation_steps(model):
                if not model.is_custom_code() or _holds_only_unsaved_buffers(step.module):
                    step.initialise(step.module)
    finally:
        for weight in done:
            delattr(weight, _DONE)
    lost = [name for name, buffer in wanted.items() if buffer.numel() and _storage(buffer) not in written.storages]
    if lost:
        raise AutomodelError(
            f"`{type(model).__name__}` does not compute its buffer `{lost[0]}` in `_init_weights`, and no file holds it"
        )


def _holds_only_unsaved_buffers(module: nn.Module) -> bool:
    """Code from outside transformers may ignore the mark, so it only sees modules where it can spoil nothing."""
    return not module.state_dict() and any(True for _ in module.buffers(recurse=False))


class _Written(TorchDispatchMode):
    """Notes which storages are written in place."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.storages: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func._schema.name.endswith("_") and args and isinstance(args[0], torch.Tensor):
            self.storages.add(_storage(args[0]))
        return result


def _storage(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)
