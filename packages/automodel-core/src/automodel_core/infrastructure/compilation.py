"""The compile stage: blocks are compiled in place, so that no name changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError
from automodel_core.infrastructure.blueprint import ModelAdapter

if TYPE_CHECKING:
    from automodel_core.config import RunConfig


def compile_blocks(model: nn.Module, adapter: ModelAdapter, config: RunConfig) -> None:
    """Compile each repeated block, or the whole of a model that has none, when it is first called."""
    check_backend(config)
    section = config.compile
    for _, block in adapter.blocks(model) or [("", model)]:
        block.compile(backend=section.backend, mode=section.mode, fullgraph=section.fullgraph, dynamic=section.dynamic)


def check_backend(config: RunConfig) -> None:
    """Raise :class:`InputError` when torch has no such backend, or inductor no such mode."""
    backend = config.compile.backend
    known = torch.compiler.list_backends(exclude_tags=())
    if backend not in known:
        raise InputError(
            Diagnostic(
                "AM450",
                f"`compile.backend` is `{backend}`, which this torch does not have",
                config.span("compile.backend"),
                helps=did_you_mean(backend, known) or (f"it has {', '.join(f'`{name}`' for name in known)}",),
            )
        )
    _check_mode(config)


def _check_mode(config: RunConfig) -> None:
    mode = config.compile.mode
    if mode is None or config.compile.backend != "inductor":
        return
    known = list(torch._inductor.list_mode_options())
    if mode not in known:
        message = f"`compile.mode` is `{mode}`, which this torch does not have"
        helps = did_you_mean(mode, known) or (f"it has {', '.join(f'`{name}`' for name in known)}",)
        raise InputError(Diagnostic("AM451", message, config.span("compile.mode"), helps=helps))
