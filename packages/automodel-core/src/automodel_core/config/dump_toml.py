"""Plain data to TOML that reads back as the same data, as far as TOML can say it.

TOML has no null. A key whose value is null is left out, and a comment says so where it would have been.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from automodel_core.config.paths import Path, format_path

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]')
_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_WIDEST: Final = 100


class NotTomlError(ValueError):
    """A value that TOML has no form for."""


def dump_toml(data: Mapping[Any, Any]) -> str:
    """Return TOML with a table for each mapping of ``data`` and a line for each value in it.

    Raises:
        NotTomlError: for a null in a list and for a key that is a number.
    """
    tables = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    blocks = ["\n".join(_lines({key: value for key, value in data.items() if key not in tables}, ()))]
    for key, table in tables.items():
        blocks.append("\n".join([f"[{_key(key, ())}]", *_lines(table, (key,))]))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _lines(data: Mapping[Any, Any], path: Path, prefix: str = "") -> Iterator[str]:
    """Yield a line for each value; those of a mapping inside have dotted keys, so that all stay in their order."""
    for key, value in data.items():
        below = (*path, key)
        name = prefix + _key(key, path)
        if value is None:
            yield f"# {name} is null, which TOML leaves out"
        elif isinstance(value, Mapping) and value:
            yield from _lines(value, below, f"{name}.")
        else:
            yield from (f"# {left} is null, which TOML leaves out" for left in _nulls(value, below))
            yield f"{name} = {_value(value, below)}"


def _nulls(value: Any, path: Path) -> Iterator[str]:
    """Yield the keys that are left out of the mappings in a list."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if item is None:
                yield _ESCAPED.sub(_escape, format_path((*path, key)))
            yield from _nulls(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _nulls(item, (*path, index))


def _value(value: Any, path: Path) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        given = {key: item for key, item in value.items() if item is not None}
        pairs = (f"{_key(key, path)} = {_value(item, (*path, key))}" for key, item in given.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        items = [_value(item, (*path, index)) for index, item in enumerate(value)]
        line = "[" + ", ".join(items) + "]"
        return (
            line if len(line) <= _WIDEST or len(items) < 2 else "[\n" + "".join(f"  {item},\n" for item in items) + "]"
        )
    if value is None:
        raise NotTomlError(f"`{format_path(path)}` is null, which a list of TOML cannot hold")
    raise TypeError(f"a {type(value).__name__} cannot be written as TOML")


def _key(key: Any, path: Path) -> str:
    if not isinstance(key, str):
        raise NotTomlError(f"the key `{key}` in `{format_path(path)}` is a number, which TOML cannot write")
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    return _SHORT_ESCAPES.get(match[0], f"\\u{ord(match[0]):04x}")
