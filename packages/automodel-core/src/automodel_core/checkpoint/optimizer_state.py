"""An optimizer's state under the names of its parameters, which no layout changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import torch
from torch import nn

SEPARATOR = ":"


@attrs.frozen
class OptimizerState:
    """``tensors`` maps ``"<parameter>:<key>"`` to tensors; ``values`` the same to plain values.

    ``groups`` are the hyper-parameters of each parameter group with the names of its parameters under ``"params"``.
    """

    tensors: Mapping[str, torch.Tensor]
    values: Mapping[str, Any]
    groups: tuple[Mapping[str, Any], ...]


def _names_in_order(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[str]:
    names = {id(p): name for name, p in model.named_parameters()}
    ordered = [p for group in optimizer.param_groups for p in group["params"]]
    unknown = sum(id(p) not in names for p in ordered)
    if unknown:
        raise ValueError(f"the optimizer has {unknown} parameters that the model does not name")
    return [names[id(p)] for p in ordered]


def read_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer) -> OptimizerState:
    """Return the state of ``optimizer`` by parameter name. Tensors are the live ones, not copies."""
    names = _names_in_order(model, optimizer)
    packed = optimizer.state_dict()
    tensors: dict[str, torch.Tensor] = {}
    values: dict[str, Any] = {}
    for index, entries in packed["state"].items():
        for key, value in entries.items():
            place = tensors if isinstance(value, torch.Tensor) else values
            place[f"{names[index]}{SEPARATOR}{key}"] = value
    groups = tuple(
        {k: _plain(v) for k, v in group.items() if k != "params"} | {"params": [names[i] for i in group["params"]]}
        for group in packed["param_groups"]
    )
    return OptimizerState(tensors, values, groups)


def _plain(value: Any) -> Any:
    """Return a hyper-parameter as JSON has it: a learning rate may be a 0-d tensor, betas a tuple."""
    if isinstance(value, torch.Tensor):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def load_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, saved: OptimizerState) -> None:
    """Put ``saved`` into ``optimizer``.

    The hyper-parameters become the saved ones. Raises ``ValueError`` when the parameters are not the same ones.
    """
    names = _names_in_order(model, optimizer)
    wanted = [name for group in saved.groups for name in group["params"]]
    if sorted(wanted) != sorted(names):
        missing, extra = sorted(set(names) - set(wanted)), sorted(set(wanted) - set(names))
        raise ValueError(f"parameters without saved state: {missing[:3]}, saved but not trained now: {extra[:3]}")
    index = {name: i for i, name in enumerate(names)}
    state: dict[int, dict[str, Any]] = {}
    for place in (saved.tensors, saved.values):
        for name, value in place.items():
            parameter, key = name.rsplit(SEPARATOR, 1)
            state.setdefault(index[parameter], {})[key] = value
    current = optimizer.state_dict()["param_groups"]
    groups = [
        {**now, **{k: _like(now.get(k), v) for k, v in group.items() if k != "params"}, "params": now["params"]}
        for now, group in zip(current, saved.groups, strict=True)
    ]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _like(now: Any, saved: Any) -> Any:
    """Return a saved hyper-parameter in the form that the optimizer holds it in."""
    if isinstance(now, torch.Tensor):
        return torch.tensor(saved, dtype=now.dtype, device=now.device)
    return tuple(saved) if isinstance(now, tuple) else saved
