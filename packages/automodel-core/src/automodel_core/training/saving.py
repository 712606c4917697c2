"""From a run to a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors.torch import save_file

from automodel_core.checkpoint.model_files import write_model_files
from automodel_core.checkpoint.optimizer_state import read_optimizer
from automodel_core.checkpoint.run_files import SavedState
from automodel_core.checkpoint.writer import CheckpointWriter
from automodel_core.infrastructure.peft import adapter_config, adapter_state_dict
from automodel_core.infrastructure.weights import leaf_over
from automodel_core.training.random_state import random_state
from automodel_core.training.run_state import RunState


def save_checkpoint(run: RunState) -> Path:
    """Write a checkpoint of the step just done, tell the observers, and return its directory."""
    writer = CheckpointWriter(run.checkpoints)
    directory = writer.save(collect_state(run), lambda partial: _write_model(run, partial))
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
        config=run.config.resolved(),
    )


def _write_model(run: RunState, directory: Path) -> None:
    """Write the weights as the model's own library does, and what belongs beside them."""
    if run.build.peft is not None:
        config = adapter_config(run.config.peft, run.model, run.build.base_name_or_path)
        (directory / "adapter_config.json").write_text(json.dumps(config, indent=2, sort_keys=True), encoding="utf-8")
        tensors = {k: v.detach().cpu().contiguous() for k, v in adapter_state_dict(run.model).items()}
        save_file(tensors, directory / "adapter_model.safetensors", metadata={"format": "pt"})
    else:
        leaves = {name: leaf_over(name, tensor) for name, tensor in run.model.state_dict(keep_vars=True).items()}
        sources = run.build.adapter.unbind(run.model, leaves)
        write_model_files(sources, directory, max_shard_bytes=run.checkpoints.max_shard_bytes)
        run.build.adapter.save_config(run.model, directory)
    run.host.build("export_model", run=run, directory=str(directory))
