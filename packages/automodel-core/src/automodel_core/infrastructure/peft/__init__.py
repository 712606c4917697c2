"""Low-rank adapters: on which layers, how they compute, and their files in peft's format."""

from automodel_core.infrastructure.peft.attach import attach_adapters
from automodel_core.infrastructure.peft.export import (
    ADAPTER_CONFIG,
    ADAPTER_WEIGHTS,
    adapter_config,
    adapter_state_dict,
)
from automodel_core.infrastructure.peft.layers import PeftLayers
from automodel_core.infrastructure.peft.lora import LoRALinear
from automodel_core.infrastructure.peft.restore import bind_adapters
from automodel_core.infrastructure.peft.targets import match_targets

__all__ = [
    "ADAPTER_CONFIG",
    "ADAPTER_WEIGHTS",
    "LoRALinear",
    "PeftLayers",
    "adapter_config",
    "adapter_state_dict",
    "attach_adapters",
    "bind_adapters",
    "match_targets",
]
