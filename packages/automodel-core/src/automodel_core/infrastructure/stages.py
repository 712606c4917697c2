"""The nine stages, in the only order there is."""

from __future__ import annotations

import enum
from typing import Final


class Stage(enum.StrEnum):
    """A stage of the pipeline. The order of the members is the order of execution."""

    PEFT = "peft"
    FP8 = "fp8"
    QAT = "qat"
    LOAD = "load"
    FREEZE = "freeze"
    SHARD = "shard"
    DEVICE = "device"
    COMPILE = "compile"
    CONTEXT_PARALLEL = "context_parallel"

    @property
    def hook(self) -> str:
        """The name of the hook that implements this stage."""
        return f"apply_{self.value}"


STAGES: Final = tuple(Stage)
