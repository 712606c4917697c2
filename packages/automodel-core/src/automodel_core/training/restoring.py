"""From a checkpoint to a run that goes on as if it had never stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from automodel_core.checkpoint.base_weights import base_digest
from automodel_core.checkpoint.changes import meaningful_changes
from automodel_core.checkpoint.directory import Checkpoint
from automodel_core.checkpoint.optimizer_state import load_optimizer
from automodel_core.checkpoint.run_files import SavedState, StateError, read_base, read_state
from automodel_core.config import RunConfig
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.infrastructure.build import ModelBuild
from automodel_core.training.random_state import restore_random_state
from automodel_core.training.run_state import RunState
from automodel_core.training.schedules import CosineAnnealingWarmup

OPTIMIZER_FILE: Final = "state/optimizer.safetensors"


def read_compatible_state(checkpoint: Checkpoint, config: RunConfig) -> SavedState:
    """Return the state in ``checkpoint``. Raises :class:`InputError` when it is unreadable or means another run."""
    span = config.span("restore_from.path")
    processes = checkpoint.manifest.world_size
    if processes != 1:
        message = f"`{checkpoint.path}` was written by {processes} processes, and this version resumes only from one's"
        helps = ("to start from its weights alone, name it in `model.name_or_path` and leave out `restore_from`",)
        raise InputError(Diagnostic("AM513", message, span, helps=helps))
    try:
        state = read_state(checkpoint.state)
        if state.optimizer is None and any(f.path == OPTIMIZER_FILE for f in checkpoint.manifest.files):
            raise StateError(
                f"`{checkpoint.state / 'training.json'}` lacks `optimizer`, which `{OPTIMIZER_FILE}` needs"
            )
    except StateError as error:
        raise InputError(Diagnostic("AM507", f"the state of `{checkpoint.path}` is unusable: {error}", span)) from None
    changes = meaningful_changes(state.config, config.resolved(), config.vocabulary.sections.values())
    if changes and not config.restore_from.allow_changes:
        raise InputError(
            [
                Diagnostic(
                    "AM508",
                    f"resuming from `{checkpoint.path}` would change what the run learns: {change}",
                    config.span(change.key) or span,
                    helps=("set it back, or insist with `--restore_from.allow_changes true`",),
                )
                for change in changes
            ]
        )
    return state


def check_base(checkpoint: Checkpoint, build: ModelBuild, config: RunConfig) -> None:
    """Raise :class:`InputError` (AM508) for adapters on other weights than those that they were trained on."""
    if build.peft is None or config.restore_from.allow_changes:
        return
    try:
        trained_on = read_base(checkpoint.state)
    except StateError as error:
        raise InputError(Diagnostic("AM507", f"the state of `{checkpoint.path}` is unusable: {error}")) from None
    if trained_on is None or trained_on == base_digest(build.base_directory):
        return
    message = f"the adapters of `{checkpoint.path}` were trained on other weights than those of the model"
    helps = ("name the model that they were trained on, or insist with `--restore_from.allow_changes true`",)
    raise InputError(Diagnostic("AM508", message, config.span("model.name_or_path"), helps=helps))


def restore_run(run: RunState, state: SavedState) -> None:
    """Put ``run`` where ``state`` stands; the weights were read by the load stage. Random generators come last.

    Raises :class:`InputError` when the optimizer, the schedule or the data are not those of the checkpoint.
    """
    span = run.config.span("restore_from.path")
    change = run.stream.data_change(state.data)
    if change is not None and not run.config.restore_from.allow_changes:
        helps = ("put the data back as they were, or insist with `--restore_from.allow_changes true`",)
        raise InputError(Diagnostic("AM508", f"resuming would change what the run learns: {change}", span, helps=helps))
    written = [{k: v for k, v in group.items() if k != "params"} for group in run.optimizer.param_groups]
    try:
        if state.optimizer is not None:
            load_optimizer(run.model, run.optimizer, state.optimizer)
        if run.lr_scheduler is not None and state.lr_scheduler is not None:
            run.lr_scheduler.load_state_dict(dict(state.lr_scheduler))
        for name, part in run.parts.items():
            if name in state.parts:
                part.load_state_dict(state.parts[name])
            elif not run.config.restore_from.allow_changes:
                raise ValueError(f"it has no `{name}`, which this run keeps")
        if run.config.restore_from.allow_changes:
            _take_what_the_config_says(run, written)
        run.stream.load_state_dict(state.data)
        epoch, micro_batch = run.stream.position()
        run.scheduler.load_state_dict({"step": state.progress["step"], "epoch": epoch, "micro_batch": micro_batch})
    except (ValueError, KeyError) as error:
        advice = (
            "give the config of the checkpoint, which its `state/config.json` has",
            "to start from its weights alone, name it in `model.name_or_path` and leave out `restore_from`",
        )
        message = f"the checkpoint does not fit this run: {error}"
        raise InputError(Diagnostic("AM509", message, span, helps=advice)) from None
    restore_random_state(state.random_tensors, state.random_values)


def _take_what_the_config_says(run: RunState, written: Sequence[Mapping[str, Any]]) -> None:
    """Give the optimizer the hyper-parameters of the config back, and the rate that its schedule has at this step.

    A schedule of torch's own knows no rate in closed form: its present rate is scaled as the full rate changed.
    """
    for group, values in zip(run.optimizer.param_groups, written, strict=True):
        full = values.get("initial_lr", values["lr"])  # a schedule that was just built has set `lr` to its first rate
        scaled = group["lr"] * full / group["initial_lr"] if group.get("initial_lr") else full
        group.update(values)
        group["lr"] = full if run.lr_scheduler is None else scaled
    if run.lr_scheduler is not None:
        run.lr_scheduler.base_lrs = [group["initial_lr"] for group in run.optimizer.param_groups]
        if isinstance(run.lr_scheduler, CosineAnnealingWarmup):
            run.lr_scheduler.load_state_dict(run.lr_scheduler.state_dict())
