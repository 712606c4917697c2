"""What ``_target_`` names: a pipeline directory of diffusers, or a pipeline with labels from a description."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import diffusers
import torch
from torch import nn

from automodel_core.adapters.location import model_directory
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError
from automodel_core.infrastructure.blueprint import Blueprint
from automodel_diffusion.models.adapter import DiffusersAdapter
from automodel_diffusion.models.class_conditional import ClassConditionalPipeline
from automodel_diffusion.models.denoisers import denoiser_kind, silence_label_dropout

INDEX: Final = "model_index.json"
DENOISERS: Final = ("transformer", "unet")
_CLASS: Final = "_class_name"
_DEFAULT_SCHEDULER: Final = {_CLASS: "FlowMatchEulerDiscreteScheduler"}


@attrs.frozen
class PipelineDescription:
    """The denoiser's ``component`` name, its ``class_name`` and ``config``; ``directory`` where it was read from."""

    component: str
    class_name: str
    config: Mapping[str, Any]
    directory: Path | None = None


class AutoDiffusionPipeline:
    """Loads or makes a pipeline, of which the denoiser trains. Calling the class is ``from_pretrained``.

    ``from_pretrained(name_or_path)`` takes a pipeline directory of diffusers or a hub id. ``from_config(unet={…})``
    makes a pipeline of images with labels, in pixels, whose denoiser ``unet`` describes as its ``config.json`` would,
    ``_class_name`` included. ``scheduler`` replaces the one that samples: another flow-matching scheduler.
    """

    def __new__(cls, name_or_path: Any = None, **kwargs: Any) -> Any:
        """Return ``from_pretrained(name_or_path, **kwargs)``."""
        return cls.from_pretrained(name_or_path, **kwargs)

    @classmethod
    def from_pretrained(cls, name_or_path: Any = None, *, scheduler: Mapping[str, Any] | None = None) -> Any:
        """Return the pipeline in a directory, as diffusers loads it."""
        directory = _directory(name_or_path, weights=True)
        chosen = {} if scheduler is None else {"scheduler": make_scheduler(scheduler)}
        return diffusers.DiffusionPipeline.from_pretrained(directory, **chosen)

    @classmethod
    def from_config(
        cls, *, unet: Mapping[str, Any], scheduler: Mapping[str, Any] | None = None
    ) -> ClassConditionalPipeline:
        """Return a pipeline with a denoiser whose weights are drawn from torch's generator."""
        described = _described(unet)
        return ClassConditionalPipeline(make_denoiser(described), make_scheduler(scheduler or _DEFAULT_SCHEDULER))

    @classmethod
    def blueprint(cls, method: str = "__call__", **arguments: Any) -> Blueprint | nn.Module:
        """Return the denoiser for the stages: on the meta device from a directory, or with weights from the seed."""
        described = describe(method, **arguments)
        denoiser_kind(described.class_name)
        if described.directory is None:
            return make_denoiser(described)
        with torch.device("meta"):
            model = make_denoiser(described)
        adapter = DiffusersAdapter({}, described.component)
        return Blueprint(model, adapter, described.directory, str(arguments["name_or_path"]))


def describe(method: str, **arguments: Any) -> PipelineDescription:
    """Return what the ``model`` section says of the denoiser. Raises :class:`InputError` (AM471) for what is wrong."""
    if method == "from_config":
        return _described(arguments.get("unet"))
    directory = _directory(arguments.get("name_or_path"), weights=True)
    index = _read_json(directory / INDEX)
    component = next((name for name in DENOISERS if name in index), None)
    if component is None:
        parts = ", ".join(f"`{name}`" for name in index if not name.startswith("_"))
        helps = (f"the pipeline has {parts or 'no components'}",)
        raise InputError(Diagnostic("AM471", f"`{directory}` has no `transformer` and no `unet` to train", helps=helps))
    config = _read_json(directory / component / "config.json")
    return PipelineDescription(component, str(config.get(_CLASS)), config, directory)


def make_denoiser(described: PipelineDescription) -> nn.Module:
    """Return the model of ``described``; weights come from the run's seed, and torch's generator is left alone."""
    denoiser_kind(described.class_name)
    builder = getattr(diffusers, described.class_name)
    values = {key: value for key, value in described.config.items() if not key.startswith("_")}
    known = set(builder._get_init_keys(builder)) - {"self"}
    unknown = [key for key in values if key not in known]
    if unknown and described.directory is None:
        helps = did_you_mean(unknown[0], known) or (f"it has {', '.join(sorted(known)[:12])}, …",)
        message = f"`{described.class_name}` in `{described.component}` has no key `{unknown[0]}`"
        raise InputError(Diagnostic("AM471", message, helps=helps))
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(torch.initial_seed())
            model: nn.Module = builder.from_config({**values, _CLASS: described.class_name})
    except Exception as error:  # the library's own code, which raises anything for a value that it did not foresee
        reason = " ".join(str(error).split())
        message = f"`{described.class_name}` in `{described.component}` cannot be built as asked: {reason}"
        raise InputError(Diagnostic("AM471", message)) from error
    silence_label_dropout(model)
    return model


def make_scheduler(values: Mapping[str, Any]) -> Any:
    """Return the scheduler that ``values``, with their ``_class_name``, describe."""
    if not isinstance(values, Mapping):
        helps = (f"write `scheduler: {{{_CLASS}: {_DEFAULT_SCHEDULER[_CLASS]}}}`",)
        raise InputError(Diagnostic("AM471", "`scheduler` must be a mapping", helps=helps))
    name = str(values.get(_CLASS))
    builder = getattr(diffusers, name, None)
    if not isinstance(builder, type) or not issubclass(builder, diffusers.SchedulerMixin):
        helps = did_you_mean(name, [n for n in dir(diffusers) if n.endswith("Scheduler")])
        message = f"`model.scheduler` names `{name}` in `{_CLASS}`, which is no scheduler of diffusers"
        helps = helps or (f"write `{_CLASS}: {_DEFAULT_SCHEDULER[_CLASS]}`",)
        raise InputError(Diagnostic("AM471", message, helps=helps))
    given = {key: value for key, value in values.items() if key != _CLASS}
    known = inspect.signature(builder.__init__).parameters
    unknown = next((key for key in given if key not in known and not key.startswith("_")), None)
    if unknown is not None:
        message = f"`{name}` in `scheduler` has no key `{unknown}`"
        raise InputError(Diagnostic("AM471", message, helps=did_you_mean(unknown, list(known))))
    try:
        scheduler = builder.from_config(given)
    except Exception as error:  # as above
        reason = " ".join(str(error).split())
        message = f"`{name}` in `scheduler` cannot be built as asked: {reason}"
        raise InputError(Diagnostic("AM471", message)) from error
    check_scheduler(scheduler)
    return scheduler


def check_scheduler(scheduler: Any) -> None:
    """Raise :class:`InputError` (AM472) for a scheduler that expects anything but a velocity along the flow."""
    kind = getattr(scheduler.config, "prediction_type", None)
    flows = "FlowMatch" in type(scheduler).__name__ or kind == "flow_prediction"
    if not flows:
        message = f"the scheduler `{type(scheduler).__name__}` does not follow a flow (it takes `{kind}`)"
        helps = (
            f"set `model.scheduler: {{{_CLASS}: FlowMatchEulerDiscreteScheduler}}`",
            "or one with `prediction_type: flow_prediction` and `use_flow_sigmas: true`",
        )
        raise InputError(Diagnostic("AM472", message, helps=helps))


def _described(unet: Any) -> PipelineDescription:
    if not isinstance(unet, Mapping) or _CLASS not in unet:
        helps = (f"write `unet: {{{_CLASS}: UNet2DModel, …}}` below `model:`",)
        raise InputError(Diagnostic("AM471", "`from_config` is not told which denoiser to make", helps=helps))
    denoiser_kind(str(unet[_CLASS]))
    if unet[_CLASS] != "UNet2DModel":
        message = f"`from_config` makes pixels with a `UNet2DModel`, not with a `{unet[_CLASS]}`"
        helps = ("save a pipeline directory with diffusers and name it in `from_pretrained`",)
        raise InputError(Diagnostic("AM471", message, helps=helps))
    return PipelineDescription("unet", str(unet[_CLASS]), unet)


def _directory(name_or_path: Any, *, weights: bool) -> Path:
    if not isinstance(name_or_path, (str, os.PathLike)):
        helps = ("set `model.name_or_path` to a pipeline directory or a hub id",)
        raise InputError(Diagnostic("AM401", "the model is not told which pipeline to load", helps=helps))
    directory = model_directory(name_or_path, revision=None, weights=weights)
    if not (directory / INDEX).is_file():
        helps = ("name a directory that a pipeline's `save_pretrained` wrote",)
        raise InputError(Diagnostic("AM471", f"`{directory}` has no `{INDEX}`: it is no pipeline", helps=helps))
    return directory


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(Diagnostic("AM471", f"`{path}` cannot be read: {error}")) from error
    if not isinstance(value, dict):
        raise InputError(Diagnostic("AM471", f"`{path}` does not hold a JSON object"))
    return value
