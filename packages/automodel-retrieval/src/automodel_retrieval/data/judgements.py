"""From the columns of a row to a query and its documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from automodel_core.data.columns import checked_text, text_of, value_of
from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_retrieval.data.corpus import Corpus, id_text
from automodel_retrieval.data.document import Document, Known, without_repeats
from automodel_retrieval.data.sample import Judged


@attrs.frozen
class RowReader:
    """Reads rows with the columns ``query``, ``positive`` and, where there is one, ``negatives``.

    A document is a text, an object with ``text`` and ``id``, or, with a ``corpus``, an id (or an object with one); a
    column may hold one or a list. With ``queries`` the query is an id as well.
    """

    columns: Mapping[str, str]
    corpus: Corpus | None
    queries: Corpus | None

    def read(self, row: Row) -> Judged:
        """Return what ``row`` says. Raises :class:`InputError`: AM380 without a positive, AM381 for an unknown id."""
        positives = self._documents(row, self.columns["positive"])
        if not positives:
            message = f"`{row.place}`: column `{self.columns['positive']}` has no positive document"
            helps = ("every query needs a document that answers it: remove the row, or give it one",)
            raise InputError(Diagnostic("AM380", message, helps=helps))
        known = Known(positives)
        negatives = self._documents(row, self.columns["negatives"]) if "negatives" in self.columns else []
        negatives = without_repeats([document for document in negatives if document not in known])
        return Judged(self._query(row), tuple(without_repeats(positives)), tuple(negatives))

    def _query(self, row: Row) -> str:
        column = self.columns["query"]
        if self.queries is not None:
            return self.queries.find(id_text(value_of(row, column), row), row, column).text
        text = text_of(row, column)
        if not text.strip():
            raise InputError(Diagnostic("AM380", f"`{row.place}`: column `{column}` has an empty query"))
        return text

    def _documents(self, row: Row, column: str) -> list[Document]:
        value = row.record.get(column) if column == self.columns.get("negatives") else value_of(row, column)
        values = value if isinstance(value, list) else [] if value is None else [value]
        found = [self._document(row, column, one) for one in values]
        return [document for document in found if document.text.strip()]

    def _document(self, row: Row, column: str, value: Any) -> Document:
        fields = value if isinstance(value, dict) else {"id": value} if self.corpus is not None else {"text": value}
        text, identity = fields.get("text"), fields.get("id")
        if text is None and identity is not None and self.corpus is not None:
            return self.corpus.find(id_text(identity, row), row, column)
        if not isinstance(text, str):
            without = "a mapping without `text`" if text is None else type(text).__name__
            held = f"the id `{identity}` without a text" if identity is not None else without
            helps = ("name the file of the texts in `dataset.corpus`",) if identity is not None else ()
            raise InputError(Diagnostic("AM308", f"`{row.place}`: column `{column}` holds {held}", helps=helps))
        return Document(checked_text(text, row, column), None if identity is None else id_text(identity, row))


class TextsById:
    """The ids that rows give to their texts."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}

    def check(self, row: Row, judged: Judged) -> None:
        """Raise :class:`InputError` (AM382) when ``row`` gives a text the id that another text has."""
        for document in (*judged.positives, *judged.negatives):
            if document.id is not None and self._texts.setdefault(document.id, document.key()[0]) != document.key()[0]:
                message = f"`{row.place}`: the id `{document.id}` is that of another text before"
                raise InputError(Diagnostic("AM382", message, helps=("give every text an id of its own",)))


def joined_by_query(rows: list[Judged]) -> list[Judged]:
    """Return ``rows`` with what every row of the same query knows to answer it, and none of it as a negative."""
    positives: dict[str, list[Document]] = {}
    for row in rows:
        positives.setdefault(row.query, []).extend(row.positives)
    known = {query: tuple(without_repeats(documents)) for query, documents in positives.items()}
    sets = {query: Known(documents) for query, documents in known.items() if len(documents) > 1}
    return [
        attrs.evolve(
            row,
            known=known[row.query],
            negatives=tuple(n for n in row.negatives if row.query not in sets or n not in sets[row.query]),
        )
        for row in rows
    ]
