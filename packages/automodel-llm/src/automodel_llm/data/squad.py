"""Question answering over a context, in the format of SQuAD (Rajpurkar et al., 2016)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from automodel_core.adapters.tokenizer import load_tokenizer
from automodel_core.data.columns import checked_text, text_of
from automodel_core.data.records import Row, iterate_rows
from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.encoded_dataset import EncodedDataset, Samples
from automodel_llm.data.prompt_answer import encode_prompt_and_answer
from automodel_llm.data.reasons import NO_ANSWER

HUB_ID: Final = "rajpurkar/squad"
_SUFFIXES: Final = (".json", ".jsonl", ".parquet")


class SquadDataset(EncodedDataset):
    """Prompts ``Context: … Question: … Answer:`` with the first answer supervised.

    Files hold SQuAD's nested JSON, or rows with ``context``, ``question`` and ``answers`` or ``answer`` as JSON, JSONL
    or Parquet. ``docs/data.md`` says what ``path`` and ``split`` may be; questions about one context are never on both
    sides of a split. Questions without an answer are left out and counted in ``report``.
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
        source = RowSource(path, split, validation_fraction, split_seed, limit, _read_files, _SUFFIXES, _context)
        super().__init__(source.open(), tokenizer, max_seq_length, cache=cache)

    def settings(self) -> dict[str, Any]:
        return {}

    def encode_row(self, row: Row) -> Samples:
        answer = _answer(row)
        if answer is None:
            return NO_ANSWER
        context, after = text_of(row, "context"), f"\nQuestion: {text_of(row, 'question')}\nAnswer:"
        return [
            encode_prompt_and_answer(self.tokenizer, "Context: ", context, after, f" {answer}", self.max_seq_length)
        ]


def _context(row: Row) -> str:
    return text_of(row, "context")


def _read_files(paths: Iterable[Path]) -> Iterator[Row]:
    for path in paths:
        nested = _nested(path) if path.suffix == ".json" else None
        if nested is None:
            yield from iterate_rows([path])
        else:
            yield from _nested_rows(nested, path)


def _nested(path: Path) -> Any:
    """Return the ``data`` list of SQuAD's own JSON, or ``None`` for a plain list of rows."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None  # iterate_rows says what is wrong
    return value["data"] if isinstance(value, dict) and isinstance(value.get("data"), list) else None


def _nested_rows(articles: Sequence[Any], path: Path) -> Iterator[Row]:
    number = 0
    try:
        for article in articles:
            for paragraph in article["paragraphs"]:
                for question in paragraph["qas"]:
                    record = {"context": paragraph["context"], "question": question["question"]}
                    yield Row(f"{path}, question {number}", {**record, "answers": question.get("answers") or []})
                    number += 1
    except (KeyError, TypeError, AttributeError) as error:
        message = (
            f"`{path}` has `data` but not the structure of SQuAD: {type(error).__name__} {error}, at question {number}"
        )
        helps = ("expected data[].paragraphs[].{context, qas[].{question, answers[].text}}",)
        raise InputError(Diagnostic("AM304", message, helps=helps)) from None


def _answer(row: Row) -> str | None:
    """Return the first answer of a question, or ``None`` when it has none."""
    if "answers" not in row.record:
        return text_of(row, "answer") or None
    answers = row.record["answers"]
    texts = answers.get("text") if isinstance(answers, dict) else answers
    if not isinstance(texts, list):
        message = f"`{row.place}`: column `answers` must hold a list of texts, or an object with `text`"
        raise InputError(Diagnostic("AM308", message))
    first = texts[0] if texts else None
    text = first.get("text") if isinstance(first, dict) else first
    if first is None or text == "":
        return None
    if not isinstance(text, str):
        raise InputError(Diagnostic("AM308", f"`{row.place}`: column `answers` holds {type(text).__name__}, not text"))
    return checked_text(text, row, "answers")
