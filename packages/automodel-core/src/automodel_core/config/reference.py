"""The reference of sections in ``docs/configuration.md``, written from the sections themselves.

``python -m automodel_core.config.reference docs/configuration.md`` renews the part of the page between the marks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import attrs

from automodel_core.config.schemas import load_schema
from automodel_core.config.spellings import CORE_KEY_ALIASES
from automodel_core.config.types import type_names
from automodel_core.config.vocabulary import CORE_SECTIONS
from automodel_core.specs import KeyAlias, SectionSpec

SECTIONS_BEGIN = "<!-- sections: written by `python -m automodel_core.config.reference docs/configuration.md` -->"
SECTIONS_END = "<!-- end of sections -->"
ALIASES_BEGIN = "<!-- aliases: written by the same command -->"
ALIASES_END = "<!-- end of aliases -->"


def section_reference(specs: Iterable[SectionSpec]) -> str:
    """Return the Markdown reference of sections, in their order."""
    parts = []
    for spec in specs:
        typed = bool(spec.schema) and not spec.component
        below = section_table(spec) if typed else "A component: `_target_` and its keyword arguments."
        parts.append(f"### `{spec.key}`\n\n{spec.summary}\n\n{below}\n")
    return "\n".join(parts).rstrip()


def alias_table(aliases: Iterable[KeyAlias]) -> str:
    """Return the Markdown table of other spellings of keys."""
    rows = ["| written | read as |", "| --- | --- |"]
    return "\n".join([*rows, *(f"| `{alias.old}` | `{alias.new}` |" for alias in aliases)])


def renewed_page(page: str) -> str:
    """Return ``page`` with what stands between the marks written anew."""
    page = _between(page, ALIASES_BEGIN, ALIASES_END, alias_table(CORE_KEY_ALIASES))
    return _between(page, SECTIONS_BEGIN, SECTIONS_END, section_reference(CORE_SECTIONS))


def _between(page: str, begin: str, end: str, text: str) -> str:
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def section_table(spec: SectionSpec) -> str:
    """Return the Markdown table of a typed section: key, type, default, meaning."""
    rows = ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join([*rows, *_rows(load_schema(spec.schema))])


def _rows(schema: type, prefix: str = "") -> Iterator[str]:
    """Yield the rows of a schema; the keys of a mapping inside it follow its own, dotted."""
    resolved: Any = attrs.resolve_types(schema)
    for field in attrs.fields(resolved):
        yield _row(field, prefix)
        for nested in filter(attrs.has, (field.type, *get_args(field.type))):
            yield from _rows(nested, f"{prefix}{field.name}.")


def _row(field: attrs.Attribute[Any], prefix: str) -> str:
    doc = field.metadata.get("doc", "")
    check = field.metadata.get("check")
    meaning = f"{doc} Must be {check.reason}." if check is not None else doc
    cells = (f"`{prefix}{field.name}`", f"`{type_names(field.type)}`", _default(field), meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(field: attrs.Attribute[Any]) -> str:
    default: Any = field.default
    if default is attrs.NOTHING:
        return "required"
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    return f"`{json.dumps(default)}`" if not isinstance(default, str) else f"`{default}`"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(renewed_page(target.read_text(encoding="utf-8")), encoding="utf-8")
