"""The sections that the retrieval domain adds to a config."""

from __future__ import annotations

import attrs

from automodel_core.config.options import NOT_EMPTY, NOT_NEGATIVE, POSITIVE, Check, option

_CUTOFFS = Check("a list of whole numbers of at least 1", lambda value: bool(value) and all(k >= 1 for k in value))


@attrs.frozen
class Retrieval:
    """How texts are encoded, and what of the ranking is measured."""

    query_prompt: str = option("", "What stands before every query.")
    document_prompt: str = option("", "What stands before every document.")
    query_max_length: int = option(64, "Longest query, in tokens; of a cross-encoder not used.", POSITIVE)
    document_max_length: int = option(256, "Longest document in tokens; of a cross-encoder, longest pair.", POSITIVE)
    gradient_cache_chunk: int | None = option(
        None, "Texts of which activations are held at once, so that the batch may be larger; null: all.", POSITIVE
    )
    cutoffs: list[int] = option([1, 10], "The k of `recall@k`; nDCG is taken at the last.", _CUTOFFS)  # noqa: RUF009


@attrs.frozen
class Mining:
    """How hard negatives are looked for, and where they are written."""

    output: str = option("mined", "Directory of the training file, the report and the embeddings.", NOT_EMPTY)
    negatives_per_query: int = option(4, "Most negatives that a query gets.", POSITIVE)
    candidates: int = option(50, "How many of the nearest documents of a query are looked at.", POSITIVE)
    skip_nearest: int = option(0, "How many of the nearest that pass the filters are passed over.", NOT_NEGATIVE)
    absolute_margin: float | None = option(
        None, "Leave out what scores above the positive's score less this; null: no such filter."
    )
    relative_margin: float | None = option(
        None, "Leave out what scores above the positive's score less this share of it; null: no such filter."
    )
    chunk_size: int = option(1024, "Texts that are embedded between two savings.", POSITIVE)
    batch_size: int = option(64, "Texts that are embedded at once.", POSITIVE)
    search: str = option(
        "auto",
        "`faiss`, `torch`, or `auto`: faiss where it is installed.",
        Check("`auto`, `faiss` or `torch`", lambda value: value in ("auto", "faiss", "torch")),
    )
    overwrite: bool = option(False, "Set aside what another model or corpus left in the directory.")
