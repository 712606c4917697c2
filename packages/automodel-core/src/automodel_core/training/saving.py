"""From a run to a checkpoint."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from safetensors.torch import save_file

from automodel_core.checkpoint.base_weights import base_digest
from automodel_core.checkpoint.model_files import write_model_files
from automodel_core.checkpoint.optimizer_state import read_optimizer
from automodel_core.checkpoint.run_files import SavedState
from automodel_core.infrastructure.peft import ADAPTER_CONFIG, ADAPTER_WEIGHTS, adapter_config, adapter_state_dict
from automodel_core.infrastructure.weights import by_place, leaf_over
from automodel_core.training.random_state import random_state
from automodel_core.training.run_state import ModelState, RunState


def save_checkpoint(run: RunState) -> Path:
    """Write a checkpoint of the step just done, tell the observers, and return its directory."""
    directory = run.writer.save(
        collect_state(run), partial(write_model, run, max_shard_bytes=run.checkpoints.max_shard_bytes)
    )
    run.host.notify("checkpoint_saved", step=run.scheduler.step, directory=str(directory))
    return directory


def collect_state(run: RunState) -> SavedState:
    """Return everything beside the weights that a run needs to go on."""
    tensors, values = random_state()
    return SavedState(
        progress=run.scheduler.state_dict(),
        data=run.stream.state_dict(),
        lr_scheduler=None if run.lr_scheduler is None else run.lr_scheduler.state_dict(),
        optimizer=read_optimizer(run.model, run.optimizer) if run.checkpoints.save_optimizer else None,
        random_tensors=tensors,
        random_values=values,
        config={**run.config.resolved(), "recipe": run.recipe},
        parts={name: part.state_dict() for name, part in run.parts.items()},
        base=base_digest(run.build.base_directory) if run.build.peft is not None else None,
    )


def write_model(state: ModelState, directory: Path, *, max_shard_bytes: int) -> None:
    """Write the weights as the model's own library does (adapters in peft's format), and what belongs beside them."""
    if state.build.peft is not None:
        write_adapters(state, directory)
    else:
        write_weights(state, directory, max_shard_bytes=max_shard_bytes)
    state.host.build("export_model", run=state, directory=str(directory))


def write_adapters(state: ModelState, directory: Path) -> None:
    """Write ``adapter_model.safetensors`` and ``adapter_config.json``."""
    layers = state.build.peft
    assert layers is not None
    config = adapter_config(state.config.peft, state.model, state.build.base_name_or_path, layers)
    (directory / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True), encoding="utf-8")
    weights = state.host.build("exported_weights", run=state)
    adapters = adapter_state_dict(state.model, layers, weights)
    tensors = {key: tensor.cpu().contiguous() for key, tensor in adapters.items()}
    save_file(tensors, directory / ADAPTER_WEIGHTS, metadata={"format": "pt"})


def write_weights(state: ModelState, directory: Path, *, max_shard_bytes: int) -> None:
    """Write the whole model under the keys of its own library, and its configuration."""
    tensors = state.host.build("exported_weights", run=state)
    adapter, model = state.build.adapter, state.model
    sources = adapter.unbind(model, {name: leaf_over(name, tensor) for name, tensor in tensors.items()})
    for place, part in by_place(sources, adapter.places(model)).items():
        (directory / place.directory).mkdir(parents=True, exist_ok=True)
        write_model_files(part, directory / place.directory, max_shard_bytes=max_shard_bytes, stem=place.stem)
    adapter.save_config(model, directory)
