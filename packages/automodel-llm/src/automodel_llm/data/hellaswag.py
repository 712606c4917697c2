"""The beginnings of HellaSwag (Zellers et al., 2019) with the endings that are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from automodel_core.adapters.tokenizer import load_tokenizer
from automodel_core.data.columns import structure_of, text_of, value_of
from automodel_core.data.records import Row
from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.encoded_dataset import EncodedDataset, Samples
from automodel_llm.data.prompt_answer import encode_prompt_and_answer
from automodel_llm.data.reasons import NO_ANSWER

HUB_ID: Final = "rowan/hellaswag"


class HellaSwagDataset(EncodedDataset):
    """Rows with ``ctx``, a list of ``endings`` and ``label``, the index of the right one, which is learned.

    Rows without a label, as the test split has them, are left out and counted in ``report``. ``docs/data.md`` says
    what ``path``, ``split`` and the rest mean.
    """

    def __init__(
        self,
        tokenizer_name_or_path: str,
        path: str | Sequence[str] = HUB_ID,
        split: str = "train",
        max_seq_length: int = 2048,
        validation_fraction: float | None = None,
        split_seed: int = 0,
        limit: int | None = None,
        cache: bool = True,
    ) -> None:
        tokenizer = load_tokenizer(tokenizer_name_or_path)
        rows = RowSource(path, split, validation_fraction, split_seed, limit, sameness=_beginning).open()
        super().__init__(rows, tokenizer, max_seq_length, cache=cache)

    def settings(self) -> dict[str, Any]:
        return {}

    def encode_row(self, row: Row) -> Samples:
        ending = _right_ending(row)
        if ending is None:
            return NO_ANSWER
        beginning = _beginning(row)
        return [encode_prompt_and_answer(self.tokenizer, "", "", beginning, f" {ending}", self.max_seq_length)]


def _beginning(row: Row) -> str:
    return text_of(row, "ctx")


def _right_ending(row: Row) -> str | None:
    """Return the ending that ``label`` points at, ``None`` without a label. Raises :class:`InputError` (AM308)."""
    label, endings = value_of(row, "label"), structure_of(row, "endings")
    if label is None or label == "":
        return None
    if not isinstance(endings, list) or not all(isinstance(ending, str) for ending in endings):
        raise InputError(Diagnostic("AM308", f"`{row.place}`: column `endings` must hold a list of texts"))
    number = int(label) if isinstance(label, int) or (isinstance(label, str) and label.isdecimal()) else -1
    if not 0 <= number < len(endings):
        message = f"`{row.place}`: column `label` holds `{label}`, not the index of one of {len(endings)} endings"
        raise InputError(Diagnostic("AM308", message))
    return str(endings[number])
