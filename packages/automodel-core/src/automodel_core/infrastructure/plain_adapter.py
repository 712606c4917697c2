"""The adapter of a plain ``torch.nn.Module``: files hold the module's own names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import torch
from torch import nn

from automodel_core.infrastructure.blueprint import BoundNames, ModelAdapter
from automodel_core.infrastructure.weights import Initialiser, WeightSource
from automodel_core.infrastructure.weights.recording import InitialisationStep, record_initialisers


@attrs.frozen(eq=False)
class PlainAdapter(ModelAdapter):
    """Implements the :class:`ModelAdapter` protocol for one module.

    ``ties`` are the names that shared storage when :meth:`of` looked, which nothing else remembers.
    """

    ties: Mapping[str, str]

    @classmethod
    def of(cls, model: nn.Module) -> PlainAdapter:
        """Return the adapter of ``model`` as it is now."""
        owners: dict[int, str] = {}
        ties: dict[str, str] = {}
        for name, weight in model.named_parameters(remove_duplicate=False):
            owner = owners.setdefault(id(weight), name)
            if owner != name:
                ties[name] = owner
        return cls(ties)

    def bind(self, model: nn.Module, checkpoint: Mapping[str, WeightSource]) -> BoundNames:
        """Match by equal names."""
        names = set(model.state_dict(keep_vars=True))
        return BoundNames(
            sources={name: source for name, source in checkpoint.items() if name in names},
            unused=tuple(sorted(set(checkpoint) - names)),
            unbound=tuple(sorted(names - set(checkpoint))),
        )

    def unbind(self, model: nn.Module, sources: Mapping[str, WeightSource]) -> dict[str, WeightSource]:
        """Return the sources, each tied weight once."""
        return {name: source for name, source in sources.items() if name not in self.ties}

    def tied_names(self, model: nn.Module) -> Mapping[str, str]:
        """Return the ties that the module had when the adapter was made."""
        return self.ties

    def tie(self, model: nn.Module) -> None:
        """Make tied parameters one object again."""
        for name, owner in self.ties.items():
            holder, _, attribute = name.rpartition(".")
            setattr(model.get_submodule(holder), attribute, model.get_parameter(owner))

    def initialisers(self, model: nn.Module) -> Mapping[str, Initialiser]:
        """Return what the ``reset_parameters`` of torch's layers do."""
        steps = [
            InitialisationStep(name, module, lambda stand_in: stand_in.reset_parameters())  # type: ignore[operator]
            for name, module in model.named_modules()
            if hasattr(module, "reset_parameters")
        ]
        return record_initialisers(model, steps, self.ties)

    def rebuild_buffers(self, model: nn.Module, device: torch.device) -> None:
        """Do nothing: a plain module's own buffers are real already."""

    def output_head(self, model: nn.Module) -> str | None:
        """Return ``None``: any layer may be one."""
        return None

    def bypassed_layers(self, model: nn.Module) -> Mapping[str, str]:
        """Return nothing."""
        return {}

    def blocks(self, model: nn.Module) -> Sequence[tuple[str, nn.Module]]:
        """Return the members of the longest module list."""
        return longest_module_list(model)

    def save_config(self, model: nn.Module, directory: Path) -> None:
        """Write nothing: there is no configuration to write."""

    def flops_per_token(self, model: nn.Module, sequence_length: int) -> float | None:
        """Return ``None``: what the module computes is not known."""
        return None


def longest_module_list(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """Return the members, with their names, of the longest ``ModuleList`` that lies in no other; ties go to all."""
    lists: list[tuple[str, nn.ModuleList]] = []
    for name, module in model.named_modules():
        inside = any(name.startswith(f"{outer}.") for outer, _ in lists)
        if isinstance(module, nn.ModuleList) and len(module) and not inside:
            lists.append((name, module))
    longest = max((len(module) for _, module in lists), default=0)
    return [
        (f"{name}.{number}", block)
        for name, module in lists
        if len(module) == longest
        for number, block in enumerate(module)
    ]
