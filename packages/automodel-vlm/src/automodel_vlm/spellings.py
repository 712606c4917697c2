"""Other spellings of the keys that the vlm domain reads."""

from __future__ import annotations

from typing import Final

from automodel_core.specs import KeyAlias, RetiredKey

_COLLATE: Final = "nemo_automodel.components.datasets.vlm.collate_fns.default_collate_fn"

KEY_ALIASES: Final = (KeyAlias("processor.pretrained_model_name_or_path", "processor.name_or_path"),)

RETIRED_KEYS: Final = (
    RetiredKey("processor._target_", ("transformers.AutoProcessor.from_pretrained",)),
    RetiredKey("processor.padding_side", ("right",), otherwise="remove it: batches are padded on the right"),
    *(RetiredKey(f"{loader}.collate_fn", (_COLLATE,)) for loader in ("dataloader", "validation_dataloader")),
)
