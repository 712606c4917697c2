"""The types of config fields in words, for messages and for the reference page."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

import attrs

_WORDS = {
    int: "an integer",
    float: "a number",
    str: "text",
    bool: "`true` or `false`",
    type(None): "null",
    Any: "anything",
}


def is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, types.UnionType)


def describe_type(annotation: Any) -> str:
    """Return what a value of ``annotation`` is, as words after "must be"."""
    if is_union(annotation):
        return _either([describe_type(arm) for arm in get_args(annotation)])
    if get_origin(annotation) is Literal:
        return _either([f"`{choice}`" for choice in get_args(annotation)])
    if get_origin(annotation) in (list, tuple):
        return f"a list ({_plural(get_args(annotation)[0])})"
    if get_origin(annotation) in (dict, Mapping) or annotation is dict:
        return "a mapping"
    return _WORDS.get(annotation, "a mapping")


def describe_value(value: object) -> str:
    """Return a value in words, short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"the number `{_short(repr(value))}`"
    if isinstance(value, str):
        return f"the text `{_short(value)}`"
    return "a mapping" if isinstance(value, Mapping) else "a list"


def type_names(annotation: Any) -> str:
    """Return the type as it stands in a table: ``int``, ``float | null``, ``"a" | "b"``."""
    if is_union(annotation):
        return " | ".join(type_names(arm) for arm in get_args(annotation))
    if get_origin(annotation) is Literal:
        return " | ".join(f'"{choice}"' for choice in get_args(annotation))
    if get_origin(annotation) in (list, tuple):
        return f"list of {type_names(get_args(annotation)[0])}"
    if annotation is type(None):
        return "null"
    if attrs.has(annotation):
        return "mapping"
    return getattr(annotation, "__name__", str(annotation))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _either(words: list[str]) -> str:
    flat = list(dict.fromkeys(words))
    return flat[0] if len(flat) == 1 else ", ".join(flat[:-1]) + f" or {flat[-1]}"


def _plural(annotation: Any) -> str:
    names = {int: "of integers", float: "of numbers", str: "of texts"}
    return names.get(annotation, f"of {type_names(annotation)}")
