"""Where the keys and values of a TOML document stand, as offsets into its text. What they mean is the parser's part.

The scan is one pass. It is as lenient as a reader of places may be: what it lets through, the parser refuses. It ends
without a word at the first thing that is no TOML, and keeps what it found before.
"""

from __future__ import annotations

import re
from typing import Final

import attrs
import tomli

from automodel_core.config.paths import Step

Path = tuple[Step, ...]
Range = tuple[int, int]

LONGEST_BARE_VALUE: Final = 1000

_BLANK: Final = re.compile(r"[ \t]*+")
_BETWEEN: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*+)*+")
_KEY: Final = re.compile(r"[A-Za-z0-9_-]++|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+'")
_TEXT: Final = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*+"""(?:""|")?'
    r"|'''(?:[^']|'(?!''))*+'''(?:''|')?"
    r"|\"(?:[^\"\\\n]|\\.)*+\""
    r"|'[^'\n]*+'"
)
_BARE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9][^\s,\]}#]*+|[^\s,\]}#=\"']++")


@attrs.frozen
class Place:
    """Where the key at ``path`` is written, and its value. An item of a list has no key: both are its value."""

    path: Path
    key: Range
    value: Range


@attrs.frozen
class TooMuch:
    """What makes the document larger than any config is, and where."""

    reason: str
    at: Range


@attrs.frozen
class TomlPlaces:
    """Every place in the order of the text, one for each time that a path is written; ``too_much`` ended the scan."""

    written: tuple[Place, ...]
    too_much: TooMuch | None = None

    def by_path(self) -> dict[Path, Place]:
        """Return the first place of each path."""
        return {place.path: place for place in reversed(self.written)}

    def repeated(self, end: int) -> tuple[Place, Place] | None:
        """Return the key whose statement ends at ``end``, where a parser refused it, and the first of the same path.

        Of a key that is written inside another, the other is returned: ``a = 1`` is what stands in the way of ``a.b``.
        """
        earlier: dict[Path, Place] = {}
        for place in self.written:
            if end in (place.value[1], place.key[1]):
                for length in range(len(place.path), 0, -1):
                    first = earlier.get(place.path[:length])
                    if first is not None:
                        return place, first
            earlier.setdefault(place.path, place)
        return None


def toml_places(text: str, *, deepest: int, most: int) -> TomlPlaces:
    """Return the places of a document with values at most ``deepest`` deep, and at most ``most`` of them."""
    scan = _Scan(text, deepest, most)
    try:
        scan.document()
    except _EndOfScanError as end:
        return TomlPlaces(tuple(scan.written), end.too_much)
    return TomlPlaces(tuple(scan.written))


class _EndOfScanError(Exception):
    def __init__(self, too_much: TooMuch | None = None) -> None:
        super().__init__()
        self.too_much = too_much


class _Scan:
    def __init__(self, text: str, deepest: int, most: int) -> None:
        self.text, self.deepest, self.most = text, deepest, most
        self.position = 0
        self.table: Path = ()
        self.written: list[Place] = []
        self.last_items: dict[Path, int] = {}

    def document(self) -> None:
        while True:
            self.skip(_BETWEEN)
            if self.position >= len(self.text):
                return
            if self.text.startswith("[[", self.position):
                self.header(2)
            elif self.text.startswith("[", self.position):
                self.header(1)
            else:
                self.assignment(self.table)

    def header(self, brackets: int) -> None:
        """Read ``[a.b]`` or ``[[a.b]]``. A name of an array of tables stands for its last item so far."""
        self.position += brackets
        path: Path = ()
        parts = self.dotted_key()
        for position, (name, key) in enumerate(parts):
            path = (*path, name)
            self.write(path, key, key)
            is_last = position == len(parts) - 1
            if is_last and brackets == 2:
                self.last_items[path] = self.last_items.get(path, -1) + 1
            if path in self.last_items and (brackets == 2 or not is_last):
                path = (*path, self.last_items[path])
                if is_last:
                    self.write(path, key, key)
        self.expect("]" * brackets)
        self.table = path

    def assignment(self, table: Path) -> None:
        """Read ``a.b = value`` below ``table``."""
        *outer, (name, key) = self.dotted_key()
        self.expect("=")
        path = table
        for outer_name, outer_key in outer:
            path = (*path, outer_name)
            self.write(path, outer_key, outer_key)
        path = (*path, name)
        slot = len(self.written)
        self.write(path, key, key)
        self.skip(_BLANK)
        self.written[slot] = Place(path, key, self.value(path))

    def value(self, path: Path) -> Range:
        start = self.position
        if self.text.startswith("[", start):
            self.array(path)
        elif self.text.startswith("{", start):
            self.inline_table(path)
        else:
            self.scalar()
        return start, self.position

    def scalar(self) -> None:
        start = self.position
        match = _TEXT.match(self.text, start)
        if match is None:
            match = self.matched(_BARE)
            if match.end() - start > LONGEST_BARE_VALUE:
                raise _EndOfScanError(TooMuch(f"a value of {match.end() - start} characters", match.span()))
        self.position = match.end()

    def array(self, path: Path) -> None:
        self.position += 1
        index = 0
        while not self.closes("]"):
            item = (*path, index)
            slot = len(self.written)
            at_end = (self.position, min(self.position + 1, len(self.text)))
            self.write(item, at_end, at_end)
            span = self.value(item)
            self.written[slot] = Place(item, span, span)
            index += 1
            self.separator("]")

    def inline_table(self, path: Path) -> None:
        self.position += 1
        while not self.closes("}"):
            self.assignment(path)
            self.separator("}")

    def closes(self, bracket: str) -> bool:
        self.skip(_BETWEEN)
        if not self.text.startswith(bracket, self.position):
            return False
        self.position += 1
        return True

    def separator(self, bracket: str) -> None:
        self.skip(_BETWEEN)
        if not self.text.startswith(bracket, self.position):
            self.expect(",")

    def dotted_key(self) -> list[tuple[str, Range]]:
        parts: list[tuple[str, Range]] = []
        while True:
            self.skip(_BLANK)
            match = self.matched(_KEY)
            parts.append((_name(match[0]), match.span()))
            self.position = match.end()
            self.skip(_BLANK)
            if len(parts) > self.deepest:
                raise _EndOfScanError(TooMuch(f"values are nested more than {self.deepest} deep", match.span()))
            if not self.text.startswith(".", self.position):
                return parts
            self.position += 1

    def write(self, path: Path, key: Range, value: Range) -> None:
        if len(path) > self.deepest:
            raise _EndOfScanError(TooMuch(f"values are nested more than {self.deepest} deep", key))
        if len(self.written) >= self.most:
            raise _EndOfScanError(TooMuch(f"the config has more than {self.most:,} values", key))
        self.written.append(Place(path, key, value))

    def matched(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.text, self.position)
        if match is None:
            raise _EndOfScanError
        return match

    def skip(self, pattern: re.Pattern[str]) -> None:
        self.position = self.matched(pattern).end()

    def expect(self, sign: str) -> None:
        if not self.text.startswith(sign, self.position):
            raise _EndOfScanError
        self.position += len(sign)


def _name(written: str) -> str:
    if written[0] not in "\"'":
        return written
    if "\\" not in written:
        return written[1:-1]
    try:
        return str(tomli.loads(f"name = {written}")["name"])
    except tomli.TOMLDecodeError:
        raise _EndOfScanError from None
