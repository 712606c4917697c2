"""Other spellings of the keys that the retrieval domain reads."""

from __future__ import annotations

from typing import Final

from automodel_core.specs import KeyAlias, RetiredKey

_DATASETS: Final = ("dataset", "validation_dataset")
_COLLATES: Final = (
    "nemo_automodel.components.datasets.llm.BiEncoderCollator",
    "nemo_automodel.components.datasets.llm.CrossEncoderCollator",
)
_MOST_PASSAGES: Final = 256
_PROMPT: Final = "it stands right before the text: end it with a space where one belongs"

KEY_ALIASES: Final = (
    KeyAlias("temperature", "model.temperature"),
    KeyAlias("model.l2_normalize", "model.normalize"),
    *(KeyAlias(f"{section}.data_dir_list", f"{section}.path") for section in _DATASETS),
    *(KeyAlias(f"{section}.data_type", f"{section}.split") for section in _DATASETS),
    # A positive and n - 1 negatives.
    *(
        KeyAlias(
            f"{section}.n_passages",
            f"{section}.negatives_per_query",
            values=tuple((number, number - 1) for number in range(1, _MOST_PASSAGES + 1)),
        )
        for section in _DATASETS
    ),
    KeyAlias("dataset.do_shuffle", "dataloader.shuffle"),
    KeyAlias("dataloader.collate_fn.q_max_len", "retrieval.query_max_length"),
    KeyAlias("dataloader.collate_fn.p_max_len", "retrieval.document_max_length"),
    KeyAlias("dataloader.collate_fn.rerank_max_length", "retrieval.document_max_length"),
    KeyAlias("dataloader.collate_fn.query_prefix", "retrieval.query_prompt", _PROMPT),
    KeyAlias("dataloader.collate_fn.passage_prefix", "retrieval.document_prompt", _PROMPT),
)

RETIRED_KEYS: Final = (
    *(RetiredKey(f"{section}.model_type", ("bi_encoder", "cross_encoder")) for section in _DATASETS),
    RetiredKey("model.do_distributed_inbatch_negative", (False,)),
    RetiredKey("dataloader.collate_fn.pad_to_multiple_of"),
    RetiredKey("dataloader.collate_fn", _COLLATES),
)
