"""What no stage may change, checked after each one."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from torch import nn

from automodel_core.errors import PluginError
from automodel_core.infrastructure.stages import STAGES, Stage


@attrs.frozen
class ModelNames:
    """Parameter names with whether each trains."""

    trains: Mapping[str, bool]

    @classmethod
    def of(cls, model: nn.Module) -> ModelNames:
        """Return those of ``model``, every name of a tied weight included."""
        return cls({name: p.requires_grad for name, p in model.named_parameters(remove_duplicate=False)})


def check_invariants(stage: Stage, model: nn.Module, before: ModelNames, ties: Mapping[str, str]) -> ModelNames:
    """Return the names after ``stage``. Raise :class:`PluginError`, which names the stage, when it broke a promise.

    Names stay (the peft stage may add ``lora_*``), what trains stays after freeze, ties stay, and nothing is left on
    the meta device after device.
    """
    after = ModelNames.of(model)
    lost = sorted(set(before.trains) - set(after.trains))
    if lost:
        raise PluginError(f"the {stage} stage lost or renamed the parameter `{lost[0]}`")
    added = sorted(set(after.trains) - set(before.trains))
    foreign = [name for name in added if not (stage is Stage.PEFT and name.rpartition(".")[2].startswith("lora_"))]
    if foreign:
        raise PluginError(f"the {stage} stage added the parameter `{foreign[0]}`")
    if STAGES.index(stage) > STAGES.index(Stage.FREEZE):
        changed = sorted(name for name, trains in before.trains.items() if after.trains[name] != trains)
        if changed:
            raise PluginError(f"the {stage} stage changed whether `{changed[0]}` trains")
    _check_ties(stage, model, ties)
    if STAGES.index(stage) >= STAGES.index(Stage.DEVICE):
        _check_real(stage, model)
    return after


def _check_ties(stage: Stage, model: nn.Module, ties: Mapping[str, str]) -> None:
    weights = model.state_dict(keep_vars=True)
    for name, owner in ties.items():
        if weights[name] is not weights[owner]:
            raise PluginError(f"after the {stage} stage `{name}` is no longer tied to `{owner}`")


def _check_real(stage: Stage, model: nn.Module) -> None:
    named = [*model.named_parameters(), *model.named_buffers()]
    left = [name for name, weight in named if weight.is_meta]
    if left:
        raise PluginError(f"after the {stage} stage `{left[0]}` is still on the meta device")
