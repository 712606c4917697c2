"""What a cross-check is: a small pure function over a whole config, which says how deep it has to look."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import attrs

from automodel_core.config.model_facts import model_shape
from automodel_core.diagnostics import Diagnostic
from automodel_core.layout import ModelShape

if TYPE_CHECKING:
    from automodel_core.config.run_config import RunConfig

Depth = Literal["names", "imports"]
"""``names``: the config and the small files beside it. ``imports``: targets are imported, data and weights opened."""


@attrs.define(slots=False)
class Situation:
    """A config, and how many ranks it is for: ``None`` where that is not known, as on a laptop."""

    config: RunConfig
    world_size: int | None = None

    @cached_property
    def model(self) -> ModelShape:
        """What the ``config.json`` that the model names says; nothing when it is not here."""
        return model_shape(self.config)


@attrs.frozen
class Rule:
    """``reads`` are the sections that ``check`` needs to be right: it is not asked when one of them is not."""

    check: Callable[[Situation], Iterable[Diagnostic]]
    reads: tuple[str, ...] = ()
    depth: Depth = "names"

    @property
    def name(self) -> str:
        return self.check.__name__


def apply_rules(rules: Iterable[Rule], situation: Situation, broken: frozenset[str]) -> tuple[Diagnostic, ...]:
    """Return what every rule that can be asked has to say; ``broken`` are the sections that are wrong already."""
    asked = (rule for rule in rules if not broken.intersection(rule.reads))
    return tuple(found for rule in asked for found in rule.check(situation))
