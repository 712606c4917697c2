"""A config for a language model and the header of a model's weight file, for tests of what is said of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DECODER = [
    "model.embed_tokens.weight",
    "model.layers.0.self_attn.q_proj.weight",
    "model.layers.0.self_attn.v_proj.weight",
    "model.layers.0.mlp.up_proj.weight",
    "model.norm.weight",
]
CONFIG = """\
model:
  _target_: NeMoAutoModelForCausalLM.from_pretrained
  name_or_path: ./model
dataset:
  _target_: SquadDataset
  path: ./squad.json
optimizer:
  _target_: torch.optim.AdamW
  lr: 1e-5
checkpoint:
  directory: runs/one
"""


def write_model(directory: Path, names: list[str], **values: Any) -> None:
    """Write the header of a weight file and no data behind it: nothing may read more."""
    directory.mkdir(exist_ok=True)
    text = json.dumps({name: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for name in names}).encode()
    (directory / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text)
    (directory / "config.json").write_text(json.dumps({"model_type": "llama", **values}))
