"""The JSON Schema (draft 2020-12) of a config, made from the sections themselves, for editors that check as one types.

It accepts whatever is a valid config; a few things that it cannot know (signatures of targets, which sections a recipe
needs, what sections say of each other) it leaves to ``automodel config validate``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, get_args, get_origin

import attrs

from automodel_core.config.component import ARGS_KEY, PARTIAL_KEY, TARGET_KEY
from automodel_core.config.layers import EXTENDS
from automodel_core.config.options import Check
from automodel_core.config.scalars import NONE_WORDS
from automodel_core.config.schemas import INERT_KEYS, load_schema
from automodel_core.config.types import is_union
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.specs import KeyAlias, ModelSpec, RetiredKey, SectionSpec

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = {"$ref": "#/$defs/reference"}
_SCALARS: Final = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_KINDS: Final = {"loss_fn": "loss", "validation_dataset": "dataset"}
"""Sections whose targets are of a kind with another name than the section."""


def config_schema(vocabulary: Vocabulary) -> Schema:
    """Return the schema of every config that the vocabulary allows."""
    properties: Schema = {
        "recipe": {
            "description": "The recipe that runs; null: as the command says.",
            "anyOf": [{"type": ["string", "null"]}, {"type": "object", "required": [TARGET_KEY]}],
        },
        EXTENDS: {
            "description": "A config, or a list of them, that this one lies on top of.",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        },
        **{key: {"description": "Without a meaning here."} for key in sorted(INERT_KEYS)},
    }
    for key, spec in vocabulary.sections.items():
        typed = bool(spec.schema) and not spec.component
        properties[key] = _typed_section(spec) if typed else _component_section(spec, vocabulary)
    schema: Schema = {
        "$schema": DIALECT,
        "title": "automodel config",
        "type": "object",
        "properties": properties,
        "patternProperties": {"^(x-|_)": {}},
        "additionalProperties": False,
        "$defs": {"reference": {"type": "string", "pattern": r"\$\{", "description": "The value of another key."}},
    }
    for alias in vocabulary.key_aliases:
        _add_alias(schema, alias)
    for retired in vocabulary.retired_keys:
        _add_retired(schema, retired)
    return schema


def _typed_section(spec: SectionSpec) -> Schema:
    section = _mapping(load_schema(spec.schema))
    return {"description": spec.summary, **section, "type": ["object", "null"]}


def _component_section(spec: SectionSpec, vocabulary: Vocabulary) -> Schema:
    kind = _KINDS.get(spec.key, spec.key)
    names = sorted(
        name
        for name, target in vocabulary.targets.items()
        if ("model" if isinstance(target, ModelSpec) else target.kind) == kind
    )
    known = [{"enum": names}] if names else []
    return {
        "description": spec.summary,
        "type": ["object", "null"],
        "properties": {
            TARGET_KEY: {
                "description": "The dotted name of the callable that is built; its other keys are its arguments.",
                "anyOf": [*known, {"type": "string", "minLength": 1}],
            },
            ARGS_KEY: {"description": "Positional arguments.", "type": "array"},
            PARTIAL_KEY: {"description": "Whether the target is given the rest of its arguments.", "type": "boolean"},
        },
    }


def _mapping(schema: type) -> Schema:
    """Return the schema of an attrs class: its fields and no others."""
    resolved: Any = attrs.resolve_types(schema)
    fields = attrs.fields(resolved)
    found: Schema = {
        "type": "object",
        "properties": {field.name: _field(field) for field in fields},
        "additionalProperties": False,
    }
    required = [field.name for field in fields if field.default is attrs.NOTHING]
    return {**found, "required": required} if required else found


def _field(field: attrs.Attribute[Any]) -> Schema:
    check: Check | None = field.metadata.get("check")
    doc = str(field.metadata.get("doc", ""))
    found: Schema = {"description": f"{doc} Must be {check.reason}." if check is not None else doc}
    if field.default is not attrs.NOTHING:
        default: Any = field.default
        found["default"] = default.factory() if isinstance(default, attrs.Factory) else default  # type: ignore[arg-type]
    return {**found, **_accepting_references(_type(field.type), dict(check.schema) if check is not None else {})}


def _accepting_references(kind: Schema, limits: Mapping[str, Any]) -> Schema:
    """Return ``kind`` within ``limits``, or a reference, whose value is known only when a config is loaded."""
    if not limits and "anyOf" in kind:
        return {"anyOf": [*kind["anyOf"], _REFERENCE]}
    return {"anyOf": [{**kind, **limits}, _REFERENCE]}


def _type(annotation: Any) -> Schema:
    if annotation in _SCALARS:
        return {"type": _SCALARS[annotation]}
    if is_union(annotation):
        arms = [_type(arm) for arm in get_args(annotation)]
        words = [{"enum": sorted(NONE_WORDS)}] if type(None) in get_args(annotation) else []
        return {"anyOf": [*arms, *words]}
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (list, tuple):
        return {"type": "array", "items": _accepting_references(_type(inner[0]), {})}
    if origin in (dict, Mapping) or annotation is dict:
        values = _type(inner[1]) if len(inner) == 2 else {}
        return {"type": "object", **({"additionalProperties": _accepting_references(values, {})} if values else {})}
    return _mapping(annotation) if attrs.has(annotation) else {}


def _add_alias(schema: Schema, alias: KeyAlias) -> None:
    """Accept the other spelling, as deprecated, where it is written."""
    *outer, last = alias.old.split(".")
    place = _properties_below(schema, outer)
    if place is not None and last not in place:
        place[last] = {"deprecated": True, "description": f"Another spelling of `{alias.new}`. {alias.note}".rstrip()}


def _add_retired(schema: Schema, retired: RetiredKey) -> None:
    """Accept a key of other systems with the values that it may have."""
    *outer, last = retired.key.split(".")
    place = _properties_below(schema, outer)
    if place is None:
        return
    said = {"deprecated": True, "description": f"Without effect here. {retired.note}".rstrip()}
    allowed: Schema = {} if retired.values is None else {"enum": list(retired.values)}
    if last in place and retired.values is not None:
        place[last] = {**place[last], "anyOf": [*_alternatives(place[last]), allowed]}
    elif last not in place:
        place[last] = {**said, "anyOf": [allowed, _component_without_effect(retired)]}


def _alternatives(known: Schema) -> list[Schema]:
    """Return what a property accepts, as alternatives to which one more can be added."""
    if "anyOf" in known:
        alternatives: list[Schema] = known["anyOf"]
        return alternatives
    return [{key: value for key, value in known.items() if key not in ("description", "default", "deprecated")}]


def _component_without_effect(retired: RetiredKey) -> Schema:
    """Return the schema of a component by one of the allowed targets: its arguments are keys of the table too."""
    targets = [value for value in retired.values or () if isinstance(value, str)]
    return {"type": "object", "properties": {TARGET_KEY: {"enum": targets}}} if targets else {"enum": []}


def _properties_below(schema: Schema, steps: Iterable[str]) -> Schema | None:
    """Return the properties of the mapping at a path; ``None`` where the path leads through something else."""
    found = schema
    for step in steps:
        below = found["properties"].setdefault(step, {"type": ["object", "null"], "properties": {}})
        mappings = [one for one in [below, *below.get("anyOf", [])] if "properties" in one]
        if not mappings:
            return None
        found = mappings[0]
    properties: Schema = found["properties"]
    return properties
