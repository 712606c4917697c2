"""Other spellings of the keys that the llm domain reads."""

from __future__ import annotations

from typing import Final

from automodel_core.specs import KeyAlias, RetiredKey

_DATASETS: Final = ("dataset", "validation_dataset")
_LOADERS: Final = (("dataloader", "dataset"), ("validation_dataloader", "validation_dataset"))
_COLLATES: Final = ("nemo_automodel.components.datasets.utils.default_collater", "torch.utils.data.default_collate")
_PADDING: Final = "batches are padded to their longest sample, which changes no loss"

KEY_ALIASES: Final = (
    *(
        KeyAlias(f"{section}.{old}", f"{section}.{new}")
        for section in _DATASETS
        for old, new in (
            ("dataset_name", "path"),
            ("path_or_dataset_id", "path"),
            ("path_or_dataset", "path"),
            ("seq_length", "max_seq_length"),
            ("seq_len", "max_seq_length"),
            ("limit_dataset_samples", "limit"),
            ("num_samples_limit", "limit"),
        )
    ),
    KeyAlias("dataset.tokenizer", "tokenizer"),
    KeyAlias("validation_dataset.tokenizer", "tokenizer"),
    *(
        KeyAlias(f"{loader}.collate_fn.{old}", f"{data}.max_seq_length")
        for loader, data in _LOADERS
        for old in ("max_length",)
    ),
)

RETIRED_KEYS: Final = (
    *(
        RetiredKey(f"{section}.{key}", values, note)
        for section in _DATASETS
        for key, values, note in (
            ("padding", ("do_not_pad", False), ""),
            ("padding", ("max_length", "longest", True), _PADDING),
            ("pad_to_max_length", (False,), ""),
            ("pad_to_max_length", (True,), _PADDING),
            ("truncation", (True, "longest_first", "do_not_truncate", False), ""),
            ("answer_only_loss_mask", (True,), ""),
            ("shuffle_seed", None, "the order is drawn from `rng.seed`, and `limit` takes the first rows"),
        )
    ),
    *(
        RetiredKey(f"{loader}.collate_fn{key}", values, note)
        for loader, _ in _LOADERS
        for key, values, note in (
            (".pad_seq_len_divisible", None, "batches are as long as their longest sample"),
            ("", _COLLATES, ""),
        )
    ),
)
