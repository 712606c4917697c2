"""What can be known of a model without importing anything: its ``config.json``, when it lies on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from automodel_core.config.component import Component
from automodel_core.layout import ModelShape

if TYPE_CHECKING:
    from automodel_core.config.run_config import RunConfig

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv"),
    "experts": ("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"),
    "longest_sequence": ("max_position_embeddings", "n_positions", "max_sequence_length"),
}
"""What architectures call the same thing."""
_LARGEST_FILE: Final = 1 << 22


def model_shape(config: RunConfig) -> ModelShape:
    """Return the shape that ``model.name_or_path/config.json`` describes, changed by the arguments beside it.

    ``model.config``, the same as a mapping, describes a model that starts from a seed.
    """
    model = config.sections.get("model")
    if not isinstance(model, Component):
        return ModelShape()
    described = model.kwargs.get("config")
    written = described if isinstance(described, dict) else _config_json(model.kwargs.get("name_or_path"))
    given = {**written, **{key: value for key, value in model.kwargs.items() if isinstance(value, int)}}
    return shape_of(given) if written else ModelShape()


def shape_of(values: Mapping[str, Any]) -> ModelShape:
    """Return the shape in a ``config.json``; of a model of several kinds of input, that of its text."""
    for name in ("text_config", "llm_config", "language_config"):
        if isinstance(values.get(name), Mapping):
            values = {**values, **values[name]}
    found = {field: _integer(values, names) for field, names in _NAMES.items()}
    if found["kv_heads"] is None:
        found["kv_heads"] = found["heads"]
    if found["experts"] is None and not any("expert" in key for key in values):
        found["experts"] = 0
    return ModelShape(**found)


def _integer(values: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = values.get(name)
        if type(value) is int and value > 0:
            return value
    return None


def _config_json(name_or_path: Any) -> dict[str, Any]:
    if not isinstance(name_or_path, str):
        return {}
    file = Path(name_or_path).expanduser() / "config.json"
    try:
        with file.open("rb") as stream:
            value = json.loads(stream.read(_LARGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return {}  # whoever loads the model says what is wrong with it
    return value if isinstance(value, dict) else {}
