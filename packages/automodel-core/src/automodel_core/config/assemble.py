"""From the nodes of a config to its sections: typed ones, components, and everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, get_args, get_origin

import attrs

from automodel_core.config.component import TARGET_KEY, Component, ComponentReader
from automodel_core.config.nodes import Entry, MappingNode, Node, ScalarNode, replaced
from automodel_core.config.overrides import known_keys
from automodel_core.config.paths import Path, format_path
from automodel_core.config.retired import advice_on
from automodel_core.config.scalars import is_number_text
from automodel_core.config.schemas import is_inert, load_schema
from automodel_core.config.structure import (
    FieldProblem,
    MissingKeyError,
    UnknownKeyError,
    WrongTypeError,
    structure_section,
)
from automodel_core.config.trust import is_name, loading_problem, target_problem
from automodel_core.config.types import describe_type
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.config.yaml_source import MOST_PROBLEMS
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.specs import SectionSpec

TARGET_FROM = {"validation_dataset": "dataset"}
"""Component sections that may leave out ``_target_`` because another section's serves."""


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
    if isinstance(node, ScalarNode) and isinstance(node.value, bool):
        helps: tuple[str, ...] = (f"write `{spec.key}: {{}}` for its defaults, or leave the section out",)
    elif spec.component or not spec.schema:
        helps = (f"write the name below it: `_target_: {node.value}`",) if isinstance(node, ScalarNode) else ()
    else:
        helps = ()
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
        helps = did_you_mean(TARGET_KEY, (str(name) for name in node.entries))
        example = f"add `_target_: …` below `{key}:`, the dotted name of a callable"
        lender = TARGET_FROM.get(key)
        message = f"`{key}` needs a `_target_`" + (f", or a `{lender}` to take it from" if lender else "")
        problems.append(Diagnostic("AM201", message, key_span, "has no `_target_`", (*helps, example)))
        return None
    reader = ComponentReader()
    component = reader.component(node, (key,))
    problems.extend(reader.problems)
    if component is not None:
        problems.extend(_target_problems(component, vocabulary))
    return component


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
    fields = [known for known in known_keys if known.rpartition(".")[2] == key]
    if fields:
        helps: tuple[str, ...] = ("did you mean " + " or ".join(f"`{field}`" for field in fields[:3]) + "?",)
    else:
        helps = did_you_mean(key, [*vocabulary.sections, "recipe"])
        helps = helps or (f"a key of your own goes under `x-{key}`",)
    return Diagnostic("AM140", f"unknown section `{key}`", span, "nothing installed reads it", helps)


def _missing_section(name: str, document: MappingNode, vocabulary: Vocabulary) -> Diagnostic:
    spec = vocabulary.sections.get(name)
    helps = [f"add `{name}:`" + (" with a `_target_`" if spec is None or spec.component else "")]
    if spec is not None and spec.summary:
        helps.append(spec.summary[0].lower() + spec.summary[1:].rstrip("."))
    return Diagnostic("AM144", f"the section `{name}` is missing", _start(document), "", tuple(helps[:1]))


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
        label, helps = _type_help(error, name)
        return Diagnostic("AM142", f"`{name}` {error}", span, label, helps)
    return Diagnostic("AM143", f"`{name}` {error}", span, "not allowed", ())


def _unknown_key(path: Path, entry: Entry | None, error: UnknownKeyError, vocabulary: Vocabulary) -> Diagnostic:
    key = str(path[-1])
    where = format_path(path[:-1])
    span = None if entry is None else entry.key_span
    if entry is not None and (key == TARGET_KEY or _names_callable(key, entry.node)):
        return _target_of_our_own(where, entry)
    advice = advice_on(f"{where}.{key}", vocabulary.retired_keys)
    helps = (advice,) if advice else did_you_mean(key, error.known)
    if not helps:
        helps = ("it has " + ", ".join(f"`{known}`" for known in error.known),)
    return Diagnostic("AM141", f"unknown key `{key}` in `{where}`", span, "unknown key", helps)


def _target_of_our_own(section: str, entry: Entry) -> Diagnostic:
    """Refuse a target where a typed section stands, unless the table of retired keys has let it pass."""
    node = entry.node.at((TARGET_KEY,)) or entry.node
    shown = node.value if isinstance(node, ScalarNode) else TARGET_KEY
    message = f"`{shown}` is not available: `{section}` is one of our own sections, and names no target"
    helps = (f"remove `{entry.key}`; the keys of the section are in docs/configuration.md",)
    return Diagnostic("AM210", message, node.span, "not available", helps)


def _names_callable(key: str, node: Node) -> bool:
    return (isinstance(node, MappingNode) and TARGET_KEY in node.entries) or (
        key.endswith("_fn")
        and isinstance(node, ScalarNode)
        and isinstance(node.value, str)
        and "." in node.value
        and is_name(node.value)
    )


def _type_help(error: WrongTypeError, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the label for a value of the wrong type, and what to type instead."""
    value = error.value
    expected = describe_type(error.annotation)
    prefix = "" if name.endswith("]") else f"{name.rpartition('.')[2]}: "
    if isinstance(value, str):
        return _text_help(value, error.annotation, prefix)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 and "integer" in expected:
        return "a number with a fraction", (f"write `{prefix}{int(value)}`",)
    if isinstance(value, bool) and "a mapping" in expected:
        return "not a mapping", (f"write `{prefix}{{}}` for its defaults, or `{prefix}null`",)
    if isinstance(value, int | float) and "text" in expected:
        return "not text", (f"quote it: `{prefix}'{str(value).lower()}'`",)
    return "wrong type", ()


def _text_help(value: str, annotation: Any, prefix: str) -> tuple[str, tuple[str, ...]]:
    if is_number_text(value):
        return "text, because it is quoted", (f"drop the quotes: `{prefix}{value}`",)
    choices = [choice for choice in _choices(annotation) if isinstance(choice, str)]
    if choices:
        return "not one of the choices", did_you_mean(value, choices)
    if value.lower() in ("yes", "no", "on", "off") and "`true`" in describe_type(annotation):
        word = "true" if value.lower() in ("yes", "on") else "false"
        return "text in YAML 1.2", (f"write `{prefix}{word}`",)
    without = value.replace("_", "").replace(",", "")
    if without != value and is_number_text(without):
        return "text, not a number", (f"write `{prefix}{without}`",)
    return "wrong type", ()


def _choices(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [choice for arm in get_args(annotation) for choice in _choices(arm)]
