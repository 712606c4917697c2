"""Whether a batch fits the model's ``forward``, said before the first step."""

from __future__ import annotations

import inspect
from collections.abc import Collection

from torch import nn

from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError


def check_model_inputs(model: nn.Module, keys: Collection[str]) -> None:
    """Raise :class:`InputError` naming each of ``keys`` that ``model.forward`` does not take, or takes and lacks."""
    signature = inspect.signature(model.forward)
    parameters = signature.parameters.values()
    names = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    class_name = type(model).__name__
    problems = []
    # `**kwargs` of a model passes through layers without a check, so a key that is merely close to a name is refused.
    for key in keys:
        helps = did_you_mean(key, names)
        if key not in names and (not open_ended or helps):
            message = f"the collate function makes `{key}`, which `{class_name}.forward` does not take"
            problems.append(Diagnostic("AM330", message, helps=helps or (f"it takes {_listed(names)}",)))
    required = [p.name for p in parameters if p.default is p.empty and p.name in names]
    for name in required:
        if name not in keys:
            message = f"`{class_name}.forward` needs `{name}`, which the collate function does not make"
            problems.append(Diagnostic("AM331", message, helps=(f"the batch has {_listed(keys)}",)))
    if problems:
        raise InputError(problems)


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
