"""From the nodes of a config to its sections: typed ones, components, and everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import attrs

from automodel_core.config.advice import advice
from automodel_core.config.component import TARGET_KEY, Component, ComponentReader
from automodel_core.config.nodes import Entry, MappingNode, Node, ScalarNode, replaced
from automodel_core.config.overrides import known_keys
from automodel_core.config.paths import Path, format_path
from automodel_core.config.retired import advice_on
from automodel_core.config.schemas import is_inert, load_schema
from automodel_core.config.shape_helps import no_mapping_help, unknown_section_help
from automodel_core.config.structure import (
    FieldProblem,
    MissingKeyError,
    UnknownKeyError,
    WrongTypeError,
    structure_section,
)
from automodel_core.config.trust import is_name, loading_problem, target_problem
from automodel_core.config.value_helps import default_help, type_help
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.config.yaml_source import MOST_PROBLEMS
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.errors import PluginError
from automodel_core.specs import SectionSpec

TARGET_FROM = {"validation_dataset": "dataset"}
"""Component sections that may leave out ``_target_`` because another section's serves."""

_NEARLY_TARGET: Final = frozenset({"target", "type", "class", "cls", "class_path", "class_name", "name", "kind"})
"""What other programs call ``_target_``."""


@attrs.frozen
class Assembled:
    """Values of the sections that are given, the top-level scalars, the inert keys, and the problems."""

    sections: dict[str, Any]
    recipe: str | None
    extras: dict[str, Any]
    problems: tuple[Diagnostic, ...]
    broken: frozenset[str] = frozenset()
    """Sections that are given and wrong, which rules about them need not be asked about."""


def assemble(document: MappingNode, vocabulary: Vocabulary, required: Collection[str]) -> Assembled:
    """Structure every section. A section whose value is null counts as absent."""
    sections: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    recipe: str | None = None
    known = known_keys(document, vocabulary)
    for key, entry in document.entries.items():
        if len(problems) >= MOST_PROBLEMS:
            break
        spec = vocabulary.sections.get(str(key))
        if is_inert(key):
            extras[str(key)] = entry.node.to_data()
        elif key == "recipe":
            recipe = _recipe(entry.node, problems)
        elif spec is None:
            problems.append(_unknown_section(str(key), entry.key_span, known, vocabulary))
        elif not (isinstance(entry.node, ScalarNode) and entry.node.value is None):
            value = _section(spec, entry.node, entry.key_span, document, vocabulary, problems)
            sections[spec.key] = value
    for name in required:
        if name not in sections:
            problems.append(_missing_section(name, document, vocabulary))
    broken = frozenset(key for key, value in sections.items() if value is None)
    return Assembled(sections, recipe, extras, tuple(problems), broken)


def _recipe(node: Node, problems: list[Diagnostic]) -> str | None:
    if isinstance(node, ScalarNode) and (node.value is None or isinstance(node.value, str)):
        return node.value
    problems.append(
        Diagnostic("AM142", "`recipe` must be the name of a recipe", node.span, "not a name", ("write one name",))
    )
    return None


def _section(
    spec: SectionSpec,
    node: Node,
    key_span: Span,
    document: MappingNode,
    vocabulary: Vocabulary,
    problems: list[Diagnostic],
) -> Any:
    if not isinstance(node, MappingNode):
        problems.append(_not_a_mapping(spec, node))
        return None
    if spec.component or not spec.schema:
        return _component(spec, node, key_span, document, vocabulary, problems)
    structured = structure_section(load_schema(spec.schema), node)
    for found in structured.problems[:MOST_PROBLEMS]:
        problems.append(_field_problem(spec, node, key_span, found, vocabulary))
    return structured.value


def _not_a_mapping(spec: SectionSpec, node: Node) -> Diagnostic:
    helps = no_mapping_help(spec, node)
    return Diagnostic("AM145", f"`{spec.key}` must be a mapping", node.span, "not a mapping", helps)


def _component(
    spec: SectionSpec,
    node: MappingNode,
    key_span: Span,
    document: MappingNode,
    vocabulary: Vocabulary,
    problems: list[Diagnostic],
) -> Component | None:
    key = spec.key
    node = _with_target(spec, node, key_span, document)
    if TARGET_KEY not in node.entries:
        helps = tuple(
            f"write `{TARGET_KEY}` instead of `{name}`"
            for name in node.entries
            if str(name).strip("_") in _NEARLY_TARGET
        )
        example = f"add `_target_: …` below `{key}:`, the dotted name of a callable"
        lender = TARGET_FROM.get(key)
        message = f"`{key}` needs a `_target_`" + (f", or a `{lender}` to take it from" if lender else "")
        problems.append(Diagnostic("AM201", message, key_span, "has no `_target_`", helps[:1] or (example,)))
        return None
    reader = ComponentReader()
    component = reader.component(node, (key,))
    problems.extend(reader.problems)
    if component is not None:
        problems.extend(_target_problems(component, vocabulary))
    # One whose keys cannot be read is not compared with a signature: what that misses is what could not be read.
    return None if reader.problems else component


def _with_target(spec: SectionSpec, node: MappingNode, key_span: Span, document: MappingNode) -> MappingNode:
    """Return a section that leaves out its target with that of the section that lends it, or with the default."""
    if TARGET_KEY in node.entries:
        return node
    lender = document.entries.get(TARGET_FROM.get(spec.key, ""))
    lent = lender.node.entries.get(TARGET_KEY) if lender is not None and isinstance(lender.node, MappingNode) else None
    if lent is not None:
        target, span = lent.node, lent.key_span
    elif spec.default_target:
        target, span = ScalarNode(spec.default_target, key_span), key_span
    else:
        return node
    with_target = replaced(node, (TARGET_KEY,), target, span)
    assert isinstance(with_target, MappingNode)
    return with_target


def _target_problems(component: Component, vocabulary: Vocabulary) -> list[Diagnostic]:
    found = target_problem(component.target, component.target_span, vocabulary)
    found = found or loading_problem(component.target, component.kwargs, component.key_spans)
    problems = [] if found is None else [found]
    for nested in component.nested():
        problems.extend(_target_problems(nested, vocabulary))
    return problems


def _unknown_section(key: str, span: Span, known_keys: list[str], vocabulary: Vocabulary) -> Diagnostic:
    helps = unknown_section_help(key, span, known_keys, vocabulary)
    return Diagnostic("AM140", f"unknown section `{key}`", span, "nothing installed reads it", helps)


def _missing_section(name: str, document: MappingNode, vocabulary: Vocabulary) -> Diagnostic:
    spec = vocabulary.sections.get(name)
    helps = [f"add `{name}:`" + (" with a `_target_`" if spec is None or spec.component else "")]
    if spec is not None and spec.summary:
        helps.append(spec.summary[0].lower() + spec.summary[1:].rstrip("."))
    entry = document.entries.get(name)  # there, and null
    place = _start(document) if entry is None else entry.key_span
    return Diagnostic("AM144", f"the section `{name}` is missing", place, "", tuple(helps[:1]))


def _start(document: MappingNode) -> Span | None:
    return attrs.evolve(document.span, end_column=document.span.column) if document.span.text else None


def _field_problem(
    spec: SectionSpec, node: MappingNode, section_span: Span, found: FieldProblem, vocabulary: Vocabulary
) -> Diagnostic:
    path: Path = (spec.key, *found.path)
    name = format_path(path)
    at = node.at(found.path)
    entry = node.entry_at(found.path) if found.path else None
    error = found.error
    if isinstance(error, UnknownKeyError):
        return _unknown_key(path, entry, error, vocabulary)
    if isinstance(error, MissingKeyError):
        return Diagnostic("AM145", f"`{name}` is missing", section_span, "", (f"add `{path[-1]}:` to `{spec.key}`",))
    span = section_span if at is None else at.span
    if isinstance(error, WrongTypeError):
        prefix = "" if name.endswith("]") else f"{name.rpartition('.')[2]}: "
        label, helps = type_help(error.value, error.annotation, prefix)
        return Diagnostic("AM142", f"`{name}` {error}", span, label, helps or _default(spec, found))
    if not isinstance(error, ValueError):
        raise _schema_failed(spec, vocabulary, name, span, error) from error
    return Diagnostic("AM143", f"`{name}` {error}", span, "not allowed", _default(spec, found))


def _schema_failed(spec: SectionSpec, vocabulary: Vocabulary, name: str, span: Span, error: Exception) -> PluginError:
    """Return the error for a schema that raises anything but a :class:`ValueError` about a value."""
    owner = vocabulary.section_owners.get(spec.key, "the core")
    said = f"the schema `{spec.schema}` of the section `{spec.key}` raised {type(error).__name__}: {error}"
    return PluginError(f"{owner}: {said} (for `{name}` at {span})")


def _default(spec: SectionSpec, found: FieldProblem) -> tuple[str, ...]:
    return default_help(load_schema(spec.schema), found.path) if spec.schema and found.path else ()


def _unknown_key(path: Path, entry: Entry | None, error: UnknownKeyError, vocabulary: Vocabulary) -> Diagnostic:
    key = str(path[-1])
    where = format_path(path[:-1])
    span = None if entry is None else entry.key_span
    if entry is not None and (key == TARGET_KEY or _names_callable(key, entry.node)):
        return _target_of_our_own(where, entry)
    known = advice_on(f"{where}.{key}", vocabulary.retired_keys)
    helps = (known,) if known else advice(key) or did_you_mean(key, error.known)
    if not helps:
        helps = ("it has " + ", ".join(f"`{field}`" for field in error.known),)
    return Diagnostic("AM141", f"unknown key `{key}` in `{where}`", span, "unknown key", helps)


def _target_of_our_own(section: str, entry: Entry) -> Diagnostic:
    """Refuse a target where a typed section stands, unless the table of retired keys has let it pass."""
    node = entry.node.at((TARGET_KEY,)) or entry.node
    shown = node.value if isinstance(node, ScalarNode) else TARGET_KEY
    message = f"`{shown}` is not available: `{section}` is one of our own sections, and names no target"
    helps = (f"remove `{entry.key}`; the keys of the section are in docs/configuration.md",)
    return Diagnostic("AM210", message, node.span, "not available", helps)


def _names_callable(key: str, node: Node) -> bool:
    if isinstance(node, MappingNode):
        return TARGET_KEY in node.entries
    name = node.value if isinstance(node, ScalarNode) else None
    return key.endswith("_fn") and isinstance(name, str) and "." in name and is_name(name)
