"""Plain text for pretraining: documents one after the other, cut into blocks of one length, every token learned."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from automodel_core.adapters.tokenizer import load_tokenizer
from automodel_core.data.array_cache import Arrays
from automodel_core.data.columns import optional_text_of, value_of
from automodel_core.data.progress import with_progress
from automodel_core.data.records import RECORD_SUFFIXES, Row, iterate_rows
from automodel_core.data.row_report import RowReport
from automodel_core.data.row_source import Rows, RowSource
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_llm.data.cached_dataset import CachedDataset, Counts
from automodel_llm.data.prompt_answer import IGNORED, TextSample
from automodel_llm.data.reasons import NO_TEXT
from automodel_llm.data.token_arrays import TOKENS

TEXT_SUFFIX: Final = ".txt"
_LARGEST_PART: Final = 2**20
_LINE_START: Final = re.compile(r"\n(?=\S)")


class TextDataset(CachedDataset):
    """Blocks of ``max_seq_length`` tokens of all documents in a row, the end token between them.

    Documents are the texts in ``column`` of files of records, and ``.txt`` files: each is one document, or several
    that ``document_separator`` separates. Every token is learned but the very first; the last position of a block
    predicts the first token of the next. The last block may be shorter.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        tokenizer_name_or_path: str,
        column: str = "text",
        document_separator: str | None = None,
        split: str = "train",
        max_seq_length: int = 2048,
        validation_fraction: float | None = None,
        split_seed: int = 0,
        limit: int | None = None,
        cache: bool = True,
    ) -> None:
        if document_separator == "":
            raise InputError(Diagnostic("AM306", "`document_separator` must not be empty"))
        self.column, self.document_separator = column, document_separator
        suffixes = (*RECORD_SUFFIXES, TEXT_SUFFIX)
        source = RowSource(
            path, split, validation_fraction, split_seed, limit, self._read, suffixes, sameness=self._text
        )
        super().__init__(source.open(), load_tokenizer(tokenizer_name_or_path), max_seq_length, cache=cache)

    def settings(self) -> dict[str, Any]:
        return {"column": self.column, "document_separator": self.document_separator}

    def encode_rows(self, rows: Rows) -> tuple[Arrays, RowReport]:
        tokens = array("i")
        dropped: Counter[str] = Counter()
        for row in with_progress(rows, f"encoding {rows.name}"):
            text = self._text(row)
            if text.strip():
                tokens.extend(_document_tokens(self.tokenizer, text))
            else:
                dropped[NO_TEXT] += 1
        # The last token is only predicted: a block that would hold it alone has nothing to learn.
        blocks = -(-max(len(tokens) - 1, 0) // self.max_seq_length)
        report = RowReport(rows.name, rows.read, blocks, rows.other_split, dropped=dict(dropped))
        return {TOKENS: np.frombuffer(tokens, dtype=np.int32)}, report

    def sample(self, arrays: Arrays, index: int) -> TextSample:
        start = index * self.max_seq_length
        ids = arrays[TOKENS][start : start + self.max_seq_length].tolist()
        labels = arrays[TOKENS][start + 1 : start + 1 + self.max_seq_length].tolist()
        return TextSample(ids, [*labels, IGNORED] if len(labels) < len(ids) else labels)

    def count_tokens(self, arrays: Arrays) -> tuple[Counts, Counts]:
        lengths = np.full(len(self), self.max_seq_length)
        lengths[-1] = min(len(arrays[TOKENS]) - (len(self) - 1) * self.max_seq_length, self.max_seq_length)
        learned = lengths.copy()
        learned[-1] = min(len(arrays[TOKENS]) - 1 - (len(self) - 1) * self.max_seq_length, self.max_seq_length)
        return lengths, learned

    def _text(self, row: Row) -> str:
        value_of(row, self.column)  # a column that is not there is an error, an empty one a document to leave out
        return optional_text_of(row, self.column)

    def _read(self, paths: Iterable[Path]) -> Iterator[Row]:
        for path in paths:
            if path.suffix.lower() != TEXT_SUFFIX:
                yield from iterate_rows([path])
                continue
            for number, text in enumerate(_documents(path, self.document_separator)):
                yield Row(f"{path}, document {number}", {self.column: text})


def _documents(path: Path, separator: str | None) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(Diagnostic("AM301", f"`{path}` cannot be read: {error.strerror or error}")) from None
    except UnicodeDecodeError as error:
        message = f"`{path}` is not UTF-8 text: {error.reason} at byte {error.start}"
        raise InputError(Diagnostic("AM304", message)) from None
    return [text] if separator is None else text.split(separator)


def _document_tokens(tokenizer: Any, text: str) -> Iterator[int]:
    """Yield the tokens of a document: what the tokenizer begins a text with, the text, and the end token.

    A long document is encoded in parts of about a million characters, cut where a line begins.
    """
    end = tokenizer.eos_token_id
    for number, part in enumerate(_parts(text)):
        ids = tokenizer(part, add_special_tokens=number == 0, verbose=False)["input_ids"]
        yield from ids[:-1] if number == 0 and len(ids) > 1 and ids[-1] == end else ids
    if end is not None:
        yield end


def _parts(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _LARGEST_PART:
        cut = _LINE_START.search(text, start + _LARGEST_PART)
        if cut is None:
            break
        yield text[start : cut.end()]
        start = cut.end()
    yield text[start:]
