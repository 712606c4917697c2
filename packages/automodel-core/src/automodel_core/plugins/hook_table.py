"""What hooks there are, read from the specifications themselves."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Literal

import attrs

from automodel_core.hookspecs import PROJECT, builders, declarations, events, stages

HookKind = Literal["declaration", "builder", "stage", "event"]

SPECIFICATIONS: Mapping[HookKind, ModuleType] = MappingProxyType(
    {"declaration": declarations, "builder": builders, "stage": stages, "event": events}
)
"""The modules that hold the specifications, in the order in which a reader meets them."""


@attrs.frozen
class HookInfo:
    """One hook: its ``name``, ``kind``, the ``arguments`` it is called with, and whether the first answer wins."""

    name: str
    kind: HookKind
    arguments: tuple[str, ...]
    first_result: bool


@functools.cache
def hook_table() -> Mapping[str, HookInfo]:
    """Return every hook by name, in the order of the specifications."""
    table: dict[str, HookInfo] = {}
    for kind, module in SPECIFICATIONS.items():
        for name, function in vars(module).items():
            options = getattr(function, f"{PROJECT}_spec", None)
            if options is None or not inspect.isfunction(function):
                continue
            arguments = tuple(function.__code__.co_varnames[: function.__code__.co_argcount])
            table[name] = HookInfo(name, kind, arguments, bool(options["firstresult"]))
    return MappingProxyType(table)
