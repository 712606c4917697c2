"""Question answering over a context, in the format of SQuAD (Rajpurkar et al., 2016)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from automodel_core.data.records import Record, read_records
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.prompt_answer import TextSample, encode_prompt_and_answer
from automodel_llm.data.tokenizer import load_tokenizer

HUB_ID = "rajpurkar/squad"
_SUFFIXES = (".json", ".jsonl", ".parquet")
_SPLIT_NAMES = {"train": ("train",), "validation": ("validation", "valid", "val", "dev"), "test": ("test",)}


class SquadDataset:
    """Prompts ``Context: … Question: … Answer:`` with the first answer supervised.

    ``path`` is a file (SQuAD's nested JSON, or rows with ``context``, ``question`` and ``answers`` or ``answer`` as
    JSON, JSONL or Parquet), a directory with one such file for each split, or a hub id. A single file serves both
    splits without overlap: its last ``holdout`` share is ``split: validation``, the rest ``split: train``, and all of
    it ``split: all``. Questions without an answer are left out.
    """

    def __init__(
        self,
        tokenizer_name_or_path: str,
        path: str = HUB_ID,
        split: str = "train",
        max_seq_length: int = 2048,
        holdout: float = 0.1,
        limit: int | None = None,
    ) -> None:
        if max_seq_length < 2:
            raise InputError(Diagnostic("AM306", f"`max_seq_length` must be at least 2, it is {max_seq_length}"))
        if not 0 < holdout < 1:
            raise InputError(Diagnostic("AM306", f"`holdout` must lie between 0 and 1, it is {holdout}"))
        self.tokenizer = load_tokenizer(tokenizer_name_or_path)
        self.max_seq_length = max_seq_length
        self.rows = squad_rows(path, split, holdout)[:limit]
        if not self.rows:
            raise InputError(Diagnostic("AM303", f"`{path}` has no answered question in split `{split}`"))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> TextSample:
        context, question, answer = self.rows[index]
        after = f"\nQuestion: {question}\nAnswer:"
        return encode_prompt_and_answer(self.tokenizer, "Context: ", context, after, f" {answer}", self.max_seq_length)


Row = tuple[str, str, str]
"""(context, question, answer)."""


def squad_rows(path: str, split: str, holdout: float) -> list[Row]:
    """Return the answered questions of ``split``."""
    source = Path(path)
    if source.is_dir():
        return list(_read_file(_split_file(source, split)))
    if source.is_file():
        return _part(list(_read_file(source)), split, holdout, source)
    if source.suffix in _SUFFIXES or path.startswith((".", "/", "~")) or path.count("/") != 1:
        raise InputError(Diagnostic("AM301", f"the data file `{path}` does not exist"))
    return list(_hub_rows(path, split))


def _part(rows: list[Row], split: str, holdout: float, source: Path) -> list[Row]:
    """Return the part of a single file that is ``split``. With one row there is nothing to hold out."""
    held = min(max(round(len(rows) * holdout), 1), len(rows) - 1)
    parts = {"train": rows[: len(rows) - held], "validation": rows[len(rows) - held :], "all": rows}
    if split not in parts:
        message = f"`{source}` is one file and has no split `{split}`"
        raise InputError(Diagnostic("AM307", message, helps=("its splits are `train`, `validation` and `all`",)))
    return parts[split]


def _split_file(directory: Path, split: str) -> Path:
    names = _SPLIT_NAMES.get(split, (split,))
    for path in sorted(directory.iterdir()):
        if path.suffix in _SUFFIXES and path.stem.split("-")[0].split("_")[0] in names:
            return path
    files = ", ".join(f"`{p.name}`" for p in sorted(directory.iterdir()) if p.suffix in _SUFFIXES) or "none"
    message = f"`{directory}` has no file for split `{split}`"
    raise InputError(
        Diagnostic("AM307", message, helps=(f"expected a name that starts with {names[0]!r}; found {files}",))
    )


def _read_file(path: Path) -> Iterator[Row]:
    nested = _nested(path) if path.suffix == ".json" else None
    if nested is not None:
        yield from _nested_rows(nested, path)
        return
    for number, record in enumerate(read_records(path)):
        answer = _answer(record, path, number)
        if answer is not None:
            yield _text(record, "context", path, number), _text(record, "question", path, number), answer


def _nested(path: Path) -> Any:
    """Return the ``data`` list of SQuAD's own JSON, or ``None`` for a plain list of rows."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None  # read_records says what is wrong
    return value["data"] if isinstance(value, dict) and isinstance(value.get("data"), list) else None


def _nested_rows(articles: Sequence[Any], path: Path) -> Iterator[Row]:
    try:
        for article in articles:
            for paragraph in article["paragraphs"]:
                for question in paragraph["qas"]:
                    answers = question.get("answers") or []
                    if answers:
                        yield paragraph["context"], question["question"], answers[0]["text"]
    except (KeyError, TypeError, AttributeError) as error:
        message = f"`{path}` has `data` but not the structure of SQuAD: {type(error).__name__} {error}"
        helps = ("expected data[].paragraphs[].{context, qas[].{question, answers[].text}}",)
        raise InputError(Diagnostic("AM304", message, helps=helps)) from None


def _text(record: Record, column: str, path: Path, number: int) -> str:
    value = record.get(column)
    if isinstance(value, str):
        return value
    if column in record:
        message = f"`{path}`, row {number}: column `{column}` holds {type(value).__name__}, not text"
        raise InputError(Diagnostic("AM308", message))
    raise InputError(_missing_column(record, column, path, number))


def _answer(record: Record, path: Path, number: int) -> str | None:
    """Return the first answer of a flat row, or ``None`` when the question has none."""
    if "answers" not in record:
        return _text(record, "answer", path, number) or None
    answers = record["answers"]
    texts = answers.get("text") if isinstance(answers, dict) else answers
    if not isinstance(texts, list):
        message = f"`{path}`, row {number}: column `answers` must hold a list of texts, or an object with `text`"
        raise InputError(Diagnostic("AM308", message))
    first = texts[0] if texts else None
    return str(first["text"] if isinstance(first, dict) else first) if first else None


def _missing_column(record: Record, column: str, path: Path, number: int) -> Diagnostic:
    found = ", ".join(f"`{name}`" for name in record) or "none"
    message = f"`{path}`, row {number}: there is no column `{column}`"
    return Diagnostic("AM309", message, helps=(f"the row has the columns {found}",))


def _hub_rows(name: str, split: str) -> Iterator[Row]:
    try:
        from datasets import load_dataset
    except ImportError:
        message = f"`{name}` is not a local file, and reading it from the hub needs the package `datasets`"
        helps = ("name a local file in `dataset.path`", "pip install datasets")
        raise InputError(Diagnostic("AM305", message, helps=helps)) from None
    try:
        rows = load_dataset(name, split=split)
    except (OSError, ValueError) as error:
        message = f"`{name}` could not be read from the hub: {error}"
        raise InputError(Diagnostic("AM301", message, helps=("name a local file in `dataset.path`",))) from None
    for number, record in enumerate(rows):
        answer = _answer(record, Path(name), number)
        if answer is not None:
            yield record["context"], record["question"], answer
