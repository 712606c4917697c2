"""What to type where a text is not TOML."""

from __future__ import annotations

from typing import Final

_HELPS: Final = {
    "invalid value": "put text in quotes; a boolean is `true` or `false`, and there is no null: leave the key out",
    "expected '=' after a key": "write `key = value`; a file of YAML ends in `.yaml`",
    "cannot declare": "keep one of the two tables",
    "cannot overwrite": "keep one of the two keys",
    "unclosed array": "close the list with `]`",
    "expected ']'": "close the name of the table with `]`",
    "illegal character '\\n'": "close the quote",
    "unterminated string": "close the quote",
    "expected newline or end of document": "put one `key = value` on a line, and text in quotes",
    "unclosed inline table": "close the mapping with `}`",
    "invalid initial character for a key part": "a key is letters, digits, `_` and `-`, or stands in quotes",
    "duplicate inline table key": "keep one of the two keys",
}


def toml_help(said: str) -> tuple[str, ...]:
    """Return a line of help for what the parser says, or nothing."""
    folded = said.lower()
    return tuple(text for key, text in _HELPS.items() if key in folded)[:1]
