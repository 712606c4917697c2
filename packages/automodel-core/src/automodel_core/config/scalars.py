"""The scalars of YAML 1.2's core schema, one table for the files, the command line, the environment and the dumper.

What differs from YAML 1.1: ``1e-5`` is a number without a dot, ``on``/``off``/``yes``/``no`` are text, octal is
``0o17``, and neither ``1_000`` nor ``1:30`` is a number.
"""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

NULL_WORDS = frozenset({"", "~", "null", "Null", "NULL"})
TRUE_WORDS = frozenset({"true", "True", "TRUE"})
FALSE_WORDS = frozenset({"false", "False", "FALSE"})
NONE_WORDS = frozenset({"none", "None"})
"""Text everywhere; a typed field that allows null reads them as null when they are not quoted."""

_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NOT_A_NUMBER = frozenset({".nan", ".NaN", ".NAN"})
_LONGEST_NUMBER = 1000


class NumberTooLongError(ValueError):
    """A number with more digits than anything in a config can need."""


def resolve_scalar(text: str) -> Scalar:
    """Return the value that ``text`` has when it stands unquoted.

    Raises:
        NumberTooLongError: for a number of more than a thousand characters.
    """
    if text in NULL_WORDS:
        return None
    if text in TRUE_WORDS:
        return True
    if text in FALSE_WORDS:
        return False
    if text[0] not in "+-.0123456789":
        return text
    return _resolve_number(text)


def is_number_text(text: str) -> bool:
    """Return whether ``text`` would be a number if it were not quoted."""
    return len(text) <= _LONGEST_NUMBER and isinstance(resolve_scalar(text), int | float)


def _resolve_number(text: str) -> str | int | float:
    if text in _NOT_A_NUMBER:
        return float("nan")
    if _INFINITY.fullmatch(text):
        return float("-inf") if text[0] == "-" else float("inf")
    for pattern, convert in ((_INTEGER, int), (_OCTAL, _octal), (_HEXADECIMAL, _hexadecimal), (_FLOAT, float)):
        if pattern.fullmatch(text):
            if len(text) > _LONGEST_NUMBER:
                raise NumberTooLongError(f"a number of {len(text)} characters")
            return convert(text)
    return text


def _octal(text: str) -> int:
    return int(text[2:], 8)


def _hexadecimal(text: str) -> int:
    return int(text[2:], 16)
