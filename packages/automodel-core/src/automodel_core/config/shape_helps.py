"""What to write where a section is not the mapping that it has to be, or is not one of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from automodel_core.config.advice import advice
from automodel_core.config.nodes import MappingNode, Node, ScalarNode, SequenceNode
from automodel_core.config.schemas import schema_fields
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.diagnostics import Span, did_you_mean
from automodel_core.specs import SectionSpec

_GLUED: Final = re.compile(r"([A-Za-z_]\w*)(:|\s*=\s*)(\S.*)")


def no_mapping_help(spec: SectionSpec, node: Node) -> tuple[str, ...]:
    """Return what to write instead of ``node``, which stands where the mapping of a section should."""
    fields = schema_fields(spec)
    if isinstance(node, SequenceNode):
        return _list_help(spec, node)
    value = node.value if isinstance(node, ScalarNode) else None
    glued = _GLUED.fullmatch(value) if isinstance(value, str) else None
    if glued:
        wrong = "put a space after the colon" if glued[2] == ":" else "write a colon"
        return (f"{wrong}: `{glued[1]}: {glued[3]}`",)
    if isinstance(value, bool):
        return (f"write `{spec.key}: {{}}` for its defaults, or leave the section out",)
    if not fields:
        return (f"write the name below it: `_target_: {value}`",)
    return (f"write its keys below it: {_listed(fields)}",)


def _list_help(spec: SectionSpec, node: SequenceNode) -> tuple[str, ...]:
    if node.span.source.endswith(".toml"):
        return (f"write `[{spec.key}]`",)
    if any(isinstance(item, MappingNode) for item in node.items):
        return ("write its keys without the dash",)
    return (f"write its keys below it: {_listed(schema_fields(spec) or ('_target_',))}",)


def unknown_section_help(key: str, span: Span, known_keys: Iterable[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return what a top-level key that nothing reads may have been meant as."""
    fields = [known for known in known_keys if known.rpartition(".")[2] == key]
    section, dot, field = key.partition(".")
    if dot and section in vocabulary.sections:
        return (f"put `{field}:` below `{section}:`; dotted keys are for the command line",)
    section, colon, _ = key.partition(":")
    if colon and section in vocabulary.sections:
        rest = span.text[span.column + len(section) :]
        return (f"put a space after the colon: `{section}: {rest.strip()}`",)
    if fields and not advice(key):
        return ("did you mean " + " or ".join(f"`{field}`" for field in fields[:3]) + "?",)
    own = f"a key of your own goes under `x-{key}`"
    return advice(key) or did_you_mean(key, [*vocabulary.sections, "recipe", "extends"]) or (own,)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
