"""Adapters in peft's file format, which ``peft.PeftModel.from_pretrained`` and inference servers read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch
from torch import nn

from automodel_core.infrastructure.peft.layers import PeftLayers, PeftSettings
from automodel_core.infrastructure.peft.lora import LoRALinear

ADAPTER_WEIGHTS: Final = "adapter_model.safetensors"
ADAPTER_CONFIG: Final = "adapter_config.json"

_PREFIX: Final = "base_model.model."
_PARTS: Final = ("lora_A", "lora_B")


def peft_key(layer: str, part: str, scope: str = "") -> str:
    """Return peft's key of the adapter part ``lora_A`` or ``lora_B`` of a layer."""
    return f"{_PREFIX}{layer.removeprefix(scope)}.{part}.weight"


def whole_key(name: str, scope: str = "") -> str:
    """Return peft's key of a parameter that is saved beside the adapters."""
    return f"{_PREFIX}{name.removeprefix(scope)}"


def adapted_layers(model: nn.Module) -> dict[str, LoRALinear]:
    """Return the LoRA layers of ``model`` by name."""
    return {name: module for name, module in model.named_modules() if isinstance(module, LoRALinear)}


def adapter_state_dict(
    model: nn.Module, layers: PeftLayers | None = None, weights: Mapping[str, torch.Tensor] | None = None
) -> dict[str, torch.Tensor]:
    """Return the adapter weights, and those saved beside them, under peft's keys.

    They are the model's own tensors, detached, or those that ``weights`` has under the model's names.
    """
    scope, whole = ("", ()) if layers is None else (layers.scope, layers.whole)
    held = model.state_dict(keep_vars=True) if weights is None else weights
    adapters = {
        peft_key(name, part, scope): held[f"{name}.{part}"].detach()
        for name in adapted_layers(model)
        for part in _PARTS
    }
    return adapters | {whole_key(name, scope): held[name].detach() for name in whole}


def adapter_config(
    peft: PeftSettings, model: nn.Module, base_name_or_path: str | None, layers: PeftLayers
) -> dict[str, Any]:
    """Return the content of peft's ``adapter_config.json`` for the adapters on ``model``."""
    return {
        "peft_type": "LORA",
        "task_type": layers.task,
        "base_model_name_or_path": base_name_or_path,
        "revision": None,
        "auto_mapping": None,
        "inference_mode": True,
        "r": peft.rank,
        "lora_alpha": int(peft.alpha) if float(peft.alpha).is_integer() else peft.alpha,
        "lora_dropout": peft.dropout,
        "use_rslora": peft.use_rslora,
        "use_dora": False,
        "target_modules": _target_modules(model, layers.scope),
        "exclude_modules": None,
        "modules_to_save": [name.removeprefix(layers.scope) for name in layers.whole_modules] or None,
        "layers_to_transform": None,
        "layers_pattern": None,
        "rank_pattern": {},
        "alpha_pattern": {},
        "bias": "none",
        "fan_in_fan_out": False,
        "init_lora_weights": True,
    }


def _target_modules(model: nn.Module, scope: str) -> list[str]:
    """Return the shortest names that peft, which matches by the end of a name, resolves to exactly these layers."""
    adapted = set(adapted_layers(model))
    suffixes = {name.rpartition(".")[2] for name in adapted}
    matched = {name for name, _ in model.named_modules() if name.rpartition(".")[2] in suffixes}
    return sorted(suffixes if matched == adapted else {name.removeprefix(scope) for name in adapted})
