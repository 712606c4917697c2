"""Which layers carry adapters, as a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs


class PeftSettings(Protocol):
    """The ``peft`` section of a config."""

    @property
    def kind(self) -> str: ...
    @property
    def rank(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def dropout(self) -> float: ...
    @property
    def target_modules(self) -> str | Sequence[str]: ...
    @property
    def exclude_modules(self) -> Sequence[str]: ...
    @property
    def use_rslora(self) -> bool: ...


@attrs.frozen
class PeftLayers:
    """The adapters of a model: the names of the adapted layers and the numbers they share."""

    names: tuple[str, ...]
    rank: int
    alpha: float
    dropout: float
    use_rslora: bool
    scope: str = ""
    """What the names of layers begin with that peft's files leave out."""
    whole: tuple[str, ...] = ()
    """Parameters that train and are saved beside the adapters, all of them of ``whole_modules``."""
    whole_modules: tuple[str, ...] = ()
    task: str | None = None
    """What peft calls the task of the model."""

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters that train, adapters first."""
        return (*(f"{name}.{part}" for name in self.names for part in ("lora_A", "lora_B")), *self.whole)
