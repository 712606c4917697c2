"""Plain values to frozen sections through cattrs, strictly: no value changes its kind, all problems at once.

An integer may stand for a float; nothing else is converted. The problems come out as paths below the section, so
that the caller can point at the place of each.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

import attrs
import cattrs
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError, IterableValidationError, IterableValidationNote
from cattrs.gen import make_dict_structure_fn, override

from automodel_core.config.nodes import MappingNode, Node, SequenceNode
from automodel_core.config.options import Check
from automodel_core.config.paths import Path
from automodel_core.config.scalars import NONE_WORDS
from automodel_core.config.types import describe_type, describe_value, is_union


class BareNone(str):
    """The unquoted word ``none``: null where a field allows null, text elsewhere."""


class WrongTypeError(ValueError):
    """A value of the wrong kind. ``annotation`` is what the field takes."""

    def __init__(self, annotation: Any, value: object) -> None:
        super().__init__(f"must be {describe_type(annotation)}, got {describe_value(value)}")
        self.annotation = annotation
        self.value = value


class NotAllowedError(ValueError):
    """A value of the right kind that a check refuses."""


class UnknownKeyError(ValueError):
    """A key that the section does not have. ``known`` are those it has."""

    def __init__(self, key: str, known: tuple[str, ...]) -> None:
        super().__init__(f"unknown key `{key}`")
        self.known = known


class MissingKeyError(ValueError):
    """A key without a default that is not there."""


@attrs.frozen
class FieldProblem:
    """What is wrong at ``path`` below the section."""

    path: Path
    error: Exception


@attrs.frozen
class Structured:
    """The section, or ``None`` and its problems."""

    value: Any
    problems: tuple[FieldProblem, ...] = ()


def structure_section(schema: type, node: MappingNode) -> Structured:
    """Return the frozen section that ``node`` describes."""
    try:
        return Structured(_converter().structure(section_data(node), schema))
    except BaseValidationError as error:
        return Structured(None, tuple(_problems(error, ())))


def section_data(node: Node) -> Any:
    """Return plain data in which an unquoted ``none`` can be told from a text."""
    if isinstance(node, MappingNode):
        return {key: section_data(entry.node) for key, entry in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [section_data(item) for item in node.items]
    if not node.quoted and isinstance(node.value, str) and node.value in NONE_WORDS:
        return BareNone(node.value)
    return node.value


def unstructure_section(section: Any) -> dict[str, Any]:
    """Return the plain data of a section, with every field."""
    return dict(cattrs.Converter().unstructure(section))


def _problems(error: Exception, path: Path) -> Iterator[FieldProblem]:
    if isinstance(error, ForbiddenExtraKeysError):
        known = tuple(field.name for field in attrs.fields(error.cl))
        for key in sorted(error.extra_fields, key=str):
            yield FieldProblem((*path, key), UnknownKeyError(str(key), known))
    elif isinstance(error, BaseValidationError):
        with_notes, others = error.group_exceptions()  # type: ignore[attr-defined]
        for inner, note in with_notes:
            step = note.index if isinstance(note, IterableValidationNote) else note.name
            yield from _problems(inner, (*path, step))
        for inner in others:
            yield from _problems(inner, path)
    elif isinstance(error, KeyError) and path and error.args == (path[-1],):
        yield FieldProblem(path, MissingKeyError(f"`{path[-1]}` is missing"))
    else:
        yield FieldProblem(path, error)


@functools.cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=True, forbid_extra_keys=True)
    for scalar in (int, float, bool, str):
        converter.register_structure_hook(scalar, _structure_scalar)
    converter.register_structure_hook_func(_is_literal, _structure_literal)
    converter.register_structure_hook_factory(attrs.has, lambda schema: _section_hook(schema, converter))
    converter.register_structure_hook_factory(is_union, lambda union: _union_hook(union, converter))
    converter.register_structure_hook_factory(_is_list, lambda annotation: _list_hook(annotation, converter))
    converter.register_structure_hook_factory(_is_mapping, lambda annotation: _mapping_hook(annotation, converter))
    return converter


def _is_literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) in (list, tuple)


def _is_mapping(annotation: Any) -> bool:
    return get_origin(annotation) in (dict, Mapping) or annotation is dict


def _structure_scalar(value: Any, kind: Any) -> Any:
    if isinstance(value, BareNone) and kind is str:
        return str(value)
    if kind is float and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    if type(value) is not kind or value != value:  # what is not a number differs from itself
        raise WrongTypeError(kind, value)
    return value


def _structure_literal(value: Any, annotation: Any) -> Any:
    for choice in get_args(annotation):
        if value == choice and isinstance(value, type(choice)):
            return choice
    raise WrongTypeError(annotation, value)


def _section_hook(schema: Any, converter: cattrs.Converter) -> Any:
    attrs.resolve_types(schema)
    overrides: dict[str, Any] = {}
    for field in attrs.fields(schema):
        check = field.metadata.get("check")
        if check is not None:
            overrides[field.name] = override(struct_hook=_checked(field.type, check, converter))
    inner = make_dict_structure_fn(
        schema, converter, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=True, **overrides
    )

    def structure(value: Any, annotation: Any) -> Any:
        if not isinstance(value, Mapping):
            raise WrongTypeError(schema, value)
        return inner(value, annotation)

    return structure


def _checked(annotation: Any, check: Check, converter: cattrs.Converter) -> Any:
    def structure(value: Any, _: Any) -> Any:
        structured = converter.structure(value, annotation)
        if structured is not None and not check.holds(structured):
            raise NotAllowedError(f"must be {check.reason}, got {describe_value(structured)}")
        return structured

    return structure


def _union_hook(union: Any, converter: cattrs.Converter) -> Any:
    arms = get_args(union)
    choices = [choice for arm in arms if get_origin(arm) is Literal for choice in get_args(arm)]

    def structure(value: Any, _: Any) -> Any:
        if isinstance(value, BareNone) and type(None) in arms and str(value) not in choices:
            return None
        if value is None and type(None) in arms:
            return None
        for arm in arms:
            if arm is type(None):
                continue
            try:
                return converter.structure(value, arm)
            except WrongTypeError:
                continue
        raise WrongTypeError(union, value)

    return structure


def _list_hook(annotation: Any, converter: cattrs.Converter) -> Any:
    item_type = get_args(annotation)[0]

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise WrongTypeError(annotation, value)
        items: list[Any] = []
        errors: list[Exception] = []
        for index, item in enumerate(value):
            try:
                items.append(converter.structure(item, item_type))
            except (ValueError, BaseValidationError) as error:
                error.add_note(IterableValidationNote(f"item {index}", index, item_type))
                errors.append(error)
        if errors:
            raise IterableValidationError("list", errors, annotation)
        return tuple(items) if get_origin(annotation) is tuple else items

    return structure


def _mapping_hook(annotation: Any, converter: cattrs.Converter) -> Any:
    item_type = (get_args(annotation) or (Any, Any))[1]

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise WrongTypeError(annotation, value)
        items: dict[Any, Any] = {}
        errors: list[Exception] = []
        for key, item in value.items():
            try:
                items[key] = item if item_type is Any else converter.structure(item, item_type)
            except (ValueError, BaseValidationError) as error:
                error.add_note(IterableValidationNote(f"key {key}", key, item_type))
                errors.append(error)
        if errors:
            raise IterableValidationError("mapping", errors, annotation)
        return items

    return structure
