"""Texts that rows name by id: a corpus of documents, or a file of queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from automodel_core.data.column_names import columns_for
from automodel_core.data.columns import optional_text_of, text_of, value_of
from automodel_core.data.progress import with_progress
from automodel_core.data.records import Row
from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError
from automodel_retrieval.data.document import Document
from automodel_retrieval.data.known_columns import TEXT_COLUMNS


class Corpus:
    """Documents by id, in the order of their files."""

    def __init__(self, path: str | Sequence[str], column_mapping: Mapping[str, str | None] | None = None) -> None:
        rows = RowSource(path, "all").open()
        self.name = rows.name
        self.fingerprint = rows.fingerprint()
        self._by_id: dict[str, Document] = {}
        columns: dict[str, str] | None = None
        for row in with_progress(rows, f"reading {rows.name}"):
            if columns is None:
                columns = columns_for(row, column_mapping, TEXT_COLUMNS, ("title",))
            self._add(row, columns)

    def _add(self, row: Row, columns: Mapping[str, str]) -> None:
        identity = id_text(value_of(row, columns["id"]), row)
        title = optional_text_of(row, columns.get("title")).strip()
        text = text_of(row, columns["text"])
        document = Document(f"{title} {text}" if title else text, identity)
        if self._by_id.setdefault(identity, document) != document:
            message = f"`{row.place}`: the id `{identity}` is that of another text before"
            raise InputError(Diagnostic("AM382", message, helps=("give every text of the corpus an id of its own",)))

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._by_id.values())

    def find(self, identity: str, row: Row, column: str) -> Document:
        """Return the document that ``row`` names in ``column``. Raises :class:`InputError` (AM381) where none is."""
        document = self._by_id.get(identity)
        if document is None:
            message = f"`{row.place}`: column `{column}` names `{identity}`, which `{self.name}` does not have"
            ids = list(self._by_id)
            helps = (*did_you_mean(identity, ids[:10_000]), f"it has {len(ids)} ids, the first is `{ids[0]}`")
            raise InputError(Diagnostic("AM381", message, helps=helps))
        return document


def id_text(value: object, row: Row) -> str:
    """Return an id as text: files have numbers and texts. Raises :class:`InputError` (AM308) for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InputError(Diagnostic("AM308", f"`{row.place}`: an id is text or a whole number, not {value!r}"))
    return str(value)
