"""The reference page's tables, written from the sections themselves."""

from __future__ import annotations

import json
from typing import Any

import attrs

from automodel_core.config.schemas import load_schema
from automodel_core.config.types import type_names
from automodel_core.specs import SectionSpec


def section_table(spec: SectionSpec) -> str:
    """Return the Markdown table of a typed section: key, type, default, meaning."""
    schema: Any = attrs.resolve_types(load_schema(spec.schema))
    rows = ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    rows.extend(_row(field) for field in attrs.fields(schema))
    return "\n".join(rows)


def _row(field: attrs.Attribute[Any]) -> str:
    doc = field.metadata.get("doc", "")
    check = field.metadata.get("check")
    meaning = f"{doc} Must be {check.reason}." if check is not None else doc
    cells = (f"`{field.name}`", f"`{type_names(field.type)}`", _default(field), meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(field: attrs.Attribute[Any]) -> str:
    default: Any = field.default
    if default is attrs.NOTHING:
        return "required"
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    return f"`{json.dumps(default)}`" if not isinstance(default, str) else f"`{default}`"
