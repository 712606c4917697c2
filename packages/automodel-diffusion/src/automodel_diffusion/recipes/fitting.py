"""Whether pipeline, data and scheme fit each other, said before the first step."""

from __future__ import annotations

from typing import Any, cast

import attrs

from automodel_core.config import RunConfig
from automodel_core.config.sections import Distributed
from automodel_core.data.loader import OrderedLoader
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.training.run_state import ModelState
from automodel_diffusion.models.parts import PipelineParts


def check_parallel_scheme(config: RunConfig, parts: PipelineParts) -> None:
    """Raise :class:`InputError` (AM478) unless ``parallel_scheme`` has the denoiser, and nothing the pipeline lacks."""
    component = parts.description.component
    scheme = {name: value for name, value in _given(config).items() if value is not None}
    here = [component, *parts.pipeline.components]
    problems = [
        Diagnostic(
            "AM478",
            f"`parallel_scheme` names `{name}`, which the pipeline does not have",
            config.span(f"parallel_scheme.{name}"),
            helps=(*did_you_mean(name, here), f"it has {', '.join(f'`{part}`' for part in dict.fromkeys(here))}"),
        )
        for name in scheme
        if name not in here
    ]
    if component not in scheme:
        message = f"`parallel_scheme` does not say how `{component}`, which trains, is spread over ranks"
        helps = (f"add `{component}: {{strategy: fsdp2}}` below it",)
        problems.append(Diagnostic("AM478", message, config.span("parallel_scheme"), helps=helps))
    if config.distributed != Distributed():  # a saved config has every section, with its defaults
        message = "`distributed` has no meaning for a pipeline, whose components are spread one by one"
        helps = (f"move it into `parallel_scheme.{component}`",)
        problems.append(Diagnostic("AM478", message, config.span("distributed"), helps=helps))
    for name, value in scheme.items():
        problems.extend(_too_many(config, name, value))
    if problems:
        raise InputError(problems)


def _given(config: RunConfig) -> dict[str, Any]:
    return attrs.asdict(config.parallel_scheme, recurse=False)


def _too_many(config: RunConfig, name: str, value: Any) -> list[Diagnostic]:
    found = []
    for key in ("dp_size", "dp_replicate_size"):
        size = getattr(value, key)
        if isinstance(size, int) and size > 1:
            path = f"parallel_scheme.{name}.{key}"
            message = f"`{path}` is {size}, and the run has 1 process"
            found.append(Diagnostic("AM479", message, config.span(path), helps=("set it to 1, or leave it out",)))
    return found


def check_fit(state: ModelState, loader: OrderedLoader) -> None:
    """Raise :class:`InputError` when the data or ``sampling`` are not what the denoiser was made for."""
    config, parts = state.config, state.processor
    with placed_at(config.span("dataset._target_")):
        batch = loader.first_batch()
    told = "label" if "labels" in batch else "text"
    span = config.dataset.span
    if told != parts.kind.conditioned_by:
        has = "labels" if told == "label" else "captions"
        message = f"`{parts.description.class_name}` is told a {parts.kind.conditioned_by}, and the data have {has}"
        helps = (f"name the column in `dataset.{'caption' if parts.kind.conditioned_by == 'text' else 'label'}`",)
        raise InputError(Diagnostic("AM475", message, span, helps=helps))
    _check_shape(state, batch)
    if told == "label":
        inner = getattr(loader.dataset, "dataset", None)
        _check_labels(state, "dataset", max(getattr(inner, "labels", None) or {0}))
    check_sampling(state)


def check_sampling(state: ModelState) -> None:
    """Raise :class:`InputError` when ``sampling`` asks for what the denoiser or the scheduler cannot give."""
    settings, parts = state.config.sampling, state.processor
    if parts.kind.conditioned_by == "label":
        _check_labels(state, "sampling.labels", max(settings.labels, default=0))
    most = getattr(parts.pipeline.scheduler.config, "num_train_timesteps", None)
    if most is not None and settings.num_inference_steps > most:
        message = (
            f"`sampling.num_inference_steps` is {settings.num_inference_steps}, and the scheduler has {most} steps"
        )
        place = state.config.span("sampling.num_inference_steps")
        raise InputError(Diagnostic("AM472", message, place, helps=(f"write `num_inference_steps: {most}` or less",)))


def _check_shape(state: ModelState, batch: Any) -> None:
    parts, denoiser = state.processor, cast(Any, state.model).config
    channels, size = int(denoiser.in_channels), denoiser.sample_size
    if "latents" in batch:
        found = batch["latents"].shape
    elif parts.vae is None:
        found = batch["images"].shape
    else:
        _check_edge(state, batch["images"].shape[-1], 2 ** (len(parts.vae.config.block_out_channels) - 1))
        wanted = int(parts.vae.config.in_channels)
        if batch["images"].shape[1] != wanted:
            message = f"the autoencoder takes {wanted} channels, and the images have {batch['images'].shape[1]}"
            helps = (f"set `dataset.channels: {wanted}`",)
            raise InputError(Diagnostic("AM477", message, state.config.dataset.span, helps=helps))
        return
    edges = tuple(size) if isinstance(size, (list, tuple)) else (size, size)
    if found[1] != channels or (size is not None and tuple(found[2:]) != edges):
        shape = " x ".join(str(edge) for edge in found[1:])
        message = f"the denoiser takes {channels} x {edges[0]} x {edges[1]}, and the data are {shape}"
        helps = ("change `dataset.size` and `dataset.channels`, or `in_channels` and `sample_size` of the denoiser",)
        raise InputError(Diagnostic("AM477", message, state.config.dataset.span, helps=helps))


def _check_edge(state: ModelState, edge: int, divisor: int) -> None:
    """Raise :class:`InputError` (AM477) for an edge that the autoencoder would cut: it halves it a number of times."""
    if edge % divisor:
        near = " or ".join(f"`{size}`" for size in (edge // divisor * divisor, (edge // divisor + 1) * divisor) if size)
        message = f"the autoencoder divides the edge by {divisor}, and the images have {edge} pixels"
        place = state.config.span("dataset.size")
        raise InputError(Diagnostic("AM477", message, place, helps=(f"set `dataset.size` to {near}",)))


def _check_labels(state: ModelState, key: str, largest: int) -> None:
    classes = state.processor.kind.no_label(state.model.config)
    if classes is None:
        message = f"`{state.processor.description.class_name}` has no class embeddings"
        helps = ("set `num_class_embeds` to the number of classes and one more, which means `no class`",)
        raise InputError(Diagnostic("AM474", message, state.config.model.span, helps=helps))
    if largest >= classes:
        message = f"`{key}` has class {largest}, and the denoiser knows {classes} (0 to {classes - 1})"
        helps = (f"`num_class_embeds` counts the classes and one more: write {largest + 2}",)
        raise InputError(Diagnostic("AM474", message, state.config.span(key), helps=helps))
