"""The configuration files that ``save_pretrained`` writes beside the weights."""

from __future__ import annotations

from pathlib import Path

from transformers import PreTrainedModel
from transformers.utils import GENERATION_CONFIG_NAME


def save_configuration(model: PreTrainedModel, directory: Path) -> None:
    """Write ``config.json`` and ``generation_config.json`` into ``directory``, the same as ``save_pretrained``."""
    directory.mkdir(parents=True, exist_ok=True)
    model.config.dtype = str(model.dtype).removeprefix("torch.")
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(directory)
    if not model.can_generate():
        return
    try:
        model.generation_config.save_pretrained(directory)
    except ValueError:
        # transformers refuses to save settings that contradict each other, though it loads them (published models have
        # such files). A checkpoint keeps what the model came with.
        model.generation_config.to_json_file(directory / GENERATION_CONFIG_NAME)
