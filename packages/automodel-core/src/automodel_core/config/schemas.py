"""The attrs classes of typed sections, imported when they are first needed."""

from __future__ import annotations

import functools
import importlib

import attrs

from automodel_core.specs import SectionSpec

INERT_KEYS = frozenset({"ci"})


def is_inert(key: object) -> bool:
    """Return whether a top-level key has no meaning here: ``x-…`` (a home for anchors), ``_…`` and ``ci``."""
    return isinstance(key, str) and (key.startswith(("x-", "_")) or key in INERT_KEYS)


def is_silent(key: object) -> bool:
    """Return whether a key says by its name that it has no meaning here."""
    return isinstance(key, str) and key.startswith("x-")


@functools.cache
def load_schema(reference: str) -> type:
    """Import ``"module:Class"``, an attrs class."""
    module, _, name = reference.partition(":")
    schema: type = getattr(importlib.import_module(module), name)
    if not attrs.has(schema):
        raise TypeError(f"the schema `{reference}` of a section must be an attrs class")
    return schema


def schema_fields(spec: SectionSpec) -> tuple[str, ...]:
    """Return the keys of a typed section; none for a component."""
    if spec.component or not spec.schema:
        return ()
    return tuple(field.name for field in attrs.fields(load_schema(spec.schema)))
