"""A document, and when two of them are the same."""

from __future__ import annotations

import hashlib
from typing import TypeAlias

import attrs

Key: TypeAlias = tuple[int, int]
"""Digests of a document's text and of its id, as signed 64-bit integers; of the text twice where there is no id."""


@attrs.frozen
class Document:
    """A text, with the id that the corpus knows it by, if any."""

    text: str
    id: str | None = None

    def key(self) -> Key:
        """Return what says whether another document is the same: their texts agree, or their ids do.

        White space at the ends and its amount in between do not matter.
        """
        text = _digest("text", " ".join(self.text.split()))
        return text, text if self.id is None else _digest("id", self.id)


def same(first: Key, second: Key) -> bool:
    """Return whether two documents are the same by text or by id."""
    return first[0] == second[0] or first[1] == second[1]


def _digest(kind: str, value: str) -> int:
    data = f"{kind}:{value}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big", signed=True)


class Known:
    """A set of documents that is asked whether it holds one, by text or by id."""

    def __init__(self, documents: tuple[Document, ...] | list[Document] = ()) -> None:
        self._texts: set[int] = set()
        self._ids: set[int] = set()
        for document in documents:
            self.add(document)

    def add(self, document: Document) -> None:
        """Take in ``document``."""
        text, identity = document.key()
        self._texts.add(text)
        self._ids.add(identity)

    def __contains__(self, document: Document) -> bool:
        text, identity = document.key()
        return text in self._texts or identity in self._ids


def without_repeats(documents: list[Document]) -> list[Document]:
    """Return the first of each group of documents that are the same, in order."""
    known = Known()
    kept = []
    for document in documents:
        if document not in known:
            kept.append(document)
        known.add(document)
    return kept
