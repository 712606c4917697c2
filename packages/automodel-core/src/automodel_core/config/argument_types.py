"""Does a value of the config fit the annotation of the parameter it is given to?

Only simple annotations are judged: ``int``, ``float``, ``bool``, ``str``, ``None``, ``Literal``, ``torch.Tensor``,
``torch.dtype``, and unions, sequences and tuples of these. About any other the answer is "fits".
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from automodel_core.config.component import Component
from automodel_core.config.dtypes import dtype_name, is_dtype

_ONE_TYPE = {int: "an int", float: "a number", bool: "true or false", str: "text", None: "null", type(None): "null"}
_MAPPINGS = (dict, Mapping)
_SEQUENCES = (list, Sequence, Collection, Iterable)


def mismatch(value: Any, annotation: Any) -> str | None:
    """Return what ``annotation`` asks for, in words after "must be", when ``value`` is not that; else ``None``."""
    if _fits(value, annotation) is False:
        return _words(annotation)
    return None


def asks_for_dtype(annotation: Any) -> bool:
    """Return whether a parameter takes a dtype, perhaps among other things."""
    if get_origin(annotation) in (Union, types.UnionType):
        return any(is_dtype(one) for one in get_args(annotation))
    return is_dtype(annotation)


def shown(value: Any) -> str:
    """Return a value of a config in words: ``the text `foo```."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f"the text `{value}`"
    kinds = {int: "the int", float: "the number", list: "the list", dict: "the mapping"}
    return f"{kinds.get(type(value), 'the value')} `{value}`"


def _fits(value: Any, annotation: Any) -> bool | None:
    """Return ``None`` where nothing is known of the annotation."""
    if isinstance(value, Component):
        return None
    if annotation in (None, type(None)):
        return value is None
    if isinstance(value, str) and asks_for_dtype(annotation):
        return dtype_name(value) is not None
    if is_dtype(annotation):
        return False
    if annotation is bool or annotation is str:
        return isinstance(value, annotation)
    if annotation is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if annotation is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if _is_tensor(annotation):
        return False  # a config has no way to write one, other than a component
    return _fits_composed(value, annotation)


def _fits_composed(value: Any, annotation: Any) -> bool | None:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return any(value == one and type(value) is type(one) for one in inner)
    if origin in (Union, types.UnionType):
        return _any([_fits(value, one) for one in inner])
    if annotation in _MAPPINGS or origin in _MAPPINGS:
        return isinstance(value, dict)
    if annotation in _SEQUENCES or origin in _SEQUENCES:
        if not isinstance(value, list):
            return False
        return _all([_fits(item, inner[0]) for item in value]) if inner else True
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        if not isinstance(value, list) or len(value) != len(inner):
            return False
        return _all([_fits(item, one) for item, one in zip(value, inner, strict=True)])
    return None


def _any(answers: list[bool | None]) -> bool | None:
    return True if True in answers else None if None in answers else False


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def _is_tensor(annotation: Any) -> bool:
    return isinstance(annotation, type) and f"{annotation.__module__}.{annotation.__qualname__}" == "torch.Tensor"


def _words(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in _ONE_TYPE:
        return _ONE_TYPE[annotation]
    if is_dtype(annotation):
        return "a dtype"
    if origin is Literal:
        return "one of " + ", ".join(f"`{one}`" for one in inner)
    if origin in (Union, types.UnionType):
        return _either(inner)
    if origin is tuple:
        return f"a list of {len(inner)}, each {' or '.join(dict.fromkeys(_words(one) for one in inner))}"
    if annotation in _MAPPINGS or origin in _MAPPINGS:
        return "a mapping"
    if annotation in _SEQUENCES or origin in _SEQUENCES:
        return f"a list, each item {_words(inner[0])}" if inner else "a list"
    return f"a {getattr(annotation, '__name__', annotation)}"


def _either(members: tuple[Any, ...]) -> str:
    """Join what a union asks for, without the tensor that a config cannot write when there is anything else."""
    spelled = str if any(is_dtype(one) for one in members) else None  # such a text is the name of a dtype
    writable = [one for one in members if not _is_tensor(one) and one is not spelled]
    said = members if set(writable) <= {type(None)} else writable
    return " or ".join(dict.fromkeys(_words(one) for one in said))
