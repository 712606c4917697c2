"""From the ``model`` section to a blueprint."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard

from torch import nn

from automodel_core.config import Component
from automodel_core.config.components import build_component, component_arguments, resolve_target
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.diagnostics.placing import placed_at
from automodel_core.infrastructure.blueprint import Blueprint


class BlueprintClass(Protocol):
    """A model class that can describe a model without making it."""

    @classmethod
    def blueprint(cls, method: str, **arguments: Any) -> Blueprint:
        """Return the blueprint of what ``cls.method(**arguments)`` would make; ``"__call__"`` is the class itself."""


def build_model_component(component: Component, vocabulary: Vocabulary) -> Blueprint | nn.Module:
    """Return a blueprint when the class that ``component`` names can give one, else the module its target makes."""
    owner, method = _class_and_method(component, vocabulary)
    with placed_at(component.span, component.key_spans):
        if _describes(owner):
            return owner.blueprint(method, **component_arguments(component, vocabulary))
        model: nn.Module = build_component(component, vocabulary)
        return model


def is_described(component: Component, vocabulary: Vocabulary) -> bool:
    """Return whether the class that ``component`` names describes a model without making it.

    Raises :class:`InputError` when the target may not be imported.
    """
    return _describes(_class_and_method(component, vocabulary)[0])


def _class_and_method(component: Component, vocabulary: Vocabulary) -> tuple[Any, str]:
    target = resolve_target(component, vocabulary)
    if isinstance(target, type):
        return target, "__call__"
    return _owner(target), getattr(target, "__name__", "")


def _owner(target: Any) -> Any:
    """Return the class of a class method, or ``None`` for anything else."""
    return getattr(target, "__self__", None)


def _describes(owner: Any) -> TypeGuard[type[BlueprintClass]]:
    return isinstance(owner, type) and callable(getattr(owner, "blueprint", None))
