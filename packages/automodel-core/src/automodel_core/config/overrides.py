"""Overrides applied to a config. Every one of them takes effect or is a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from automodel_core.config.advice import advice
from automodel_core.config.aliases import canonical_path, translated
from automodel_core.config.nodes import MappingNode, Node, ScalarNode, SequenceNode, node_at, removed, replaced
from automodel_core.config.override_tokens import Override, SplitOverrides, split_overrides, suggest_keys
from automodel_core.config.paths import Path, PathError, format_path, list_index, parse_path
from automodel_core.config.python_source import PythonPlaces, node_from_value
from automodel_core.config.schemas import is_inert, schema_fields
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError

Overrides = Sequence[str] | Mapping[str, Any]


@attrs.frozen
class Overridden:
    """The config with the overrides in it, those that took effect, and the problems of the others."""

    document: MappingNode
    applied: tuple[Override, ...]
    problems: tuple[Diagnostic, ...]


def apply_overrides(document: MappingNode, overrides: Overrides, vocabulary: Vocabulary) -> Overridden:
    """Apply overrides in their order. From Python, ``{"optimizer.lr": 1e-4}`` is the same as ``optimizer.lr=1e-4``.

    ``document`` has its keys in our spelling already; the paths of overrides are brought to it here, so that an
    override in one spelling replaces a key of the file in the other.
    """
    known = known_keys(document, vocabulary)
    split = _from_mapping(overrides) if isinstance(overrides, Mapping) else split_overrides(overrides, known)
    problems = list(split.problems)
    applied: list[Override] = []
    for written in split.overrides:
        override = _in_our_spelling(written, vocabulary)
        problem = _unknown_key(override, document, vocabulary, known) or _lost(override, applied)
        if problem is None:
            try:
                document = _applied(document, override, vocabulary)
                applied.append(override)
            except InputError as error:
                problems.extend(error.diagnostics)
        else:
            problems.append(problem)
    return Overridden(document, tuple(applied), tuple(problems))


def _in_our_spelling(written: Override, vocabulary: Vocabulary) -> Override:
    path, alias = canonical_path(written.path, vocabulary.key_aliases)
    value = written.value if written.value is None or alias is None else translated(written.value, alias)
    return attrs.evolve(written, path=path, value=value)


def known_keys(document: MappingNode, vocabulary: Vocabulary) -> list[str]:
    """Return the dotted keys that an override can name: fields of typed sections, and what the config has."""
    keys: dict[str, None] = {"recipe": None}
    for key, spec in vocabulary.sections.items():
        keys[key] = None
        keys.update((f"{key}.{name}", None) for name in schema_fields(spec))
    for entry in document.entries.values():
        if isinstance(entry.node, MappingNode):
            keys.update((f"{entry.key}.{name}", None) for name in entry.node.entries)
    keys.update((alias.old, None) for alias in vocabulary.key_aliases)
    return list(keys)


def _from_mapping(overrides: Mapping[str, Any]) -> SplitOverrides:
    found: list[Override] = []
    problems: list[Diagnostic] = []
    for name, value in overrides.items():
        try:
            path = parse_path(name.lstrip("+"))
            span, _ = PythonPlaces().spans(path, value)
            node = node_from_value(value, path)
        except PathError as error:
            problems.append(Diagnostic("AM110", str(error)))
        except InputError as error:
            problems.extend(error.diagnostics)
        else:
            found.append(Override("add" if name.startswith("+") else "set", path, span, node))
    return SplitOverrides(tuple(found), tuple(problems))


def _unknown_key(
    override: Override, document: MappingNode, vocabulary: Vocabulary, known: list[str]
) -> Diagnostic | None:
    """Refuse a path whose section or whose field of a typed section does not exist."""
    section = str(override.path[0])
    spec = vocabulary.sections.get(section)
    if spec is None:
        if section == "recipe" or is_inert(section) or section in document.entries:
            return None
        helps = advice(override.name) or suggest_keys(override.name, known, "--" if "." not in override.name else "")
        label = f"there is no section `{section}`"
        return Diagnostic("AM111", f"unknown key `{override.name}`", override.span, label, helps)
    fields = schema_fields(spec)
    if not fields or len(override.path) < 2 or override.path[1] in fields or _is_retired(override, vocabulary):
        return None
    helps = suggest_keys(override.name, known)
    label = f"`{section}` has no key `{override.path[1]}`"
    return Diagnostic("AM111", f"unknown key `{override.name}`", override.span, label, helps)


def _is_retired(override: Override, vocabulary: Vocabulary) -> bool:
    return any(known.key == override.name for known in vocabulary.retired_keys)


def _lost(override: Override, applied: list[Override]) -> Diagnostic | None:
    """Refuse an override that would undo an earlier one."""
    for earlier in applied:
        if _same_start(earlier.path, override.path):
            return Diagnostic(
                "AM113",
                f"`{earlier.name}` is overridden twice",
                override.span,
                f"`{earlier.span.text}` would have no effect",
                ("keep one of the two",),
            )
    return None


def _same_start(earlier: Path, later: Path) -> bool:
    shape = [step if (index := list_index(step)) is None else index for step in later]
    return [step if (index := list_index(step)) is None else index for step in earlier][: len(shape)] == shape


def _applied(document: MappingNode, override: Override, vocabulary: Vocabulary) -> MappingNode:
    present = node_at(document, override.path)
    if override.operation == "delete":
        if present is None:
            raise InputError(_nothing_there(document, override))
        root: Node = removed(document, override.path)
    else:
        spec = vocabulary.sections.get(str(override.path[0]))
        is_typed = spec is not None and bool(schema_fields(spec))
        _check_presence(document, override, present, is_typed)
        assert override.value is not None
        try:
            root = replaced(document, override.path, override.value, override.span)
        except LookupError as error:
            raise InputError(_not_enterable(document, override, error.args[0])) from None
    assert isinstance(root, MappingNode)
    return root


def _check_presence(document: MappingNode, override: Override, present: Node | None, is_typed: bool) -> None:
    """Refuse ``+`` on a key that is there, and a new key deep inside an untyped value without ``+``."""
    if override.operation == "add" and present is not None:
        where = present.span
        helps: tuple[str, ...] = (f"write `{override.span.text.lstrip('+')}`",)
        message = f"`{override.name}` is there already, and `+` adds a key"
        raise InputError(Diagnostic("AM112", message, override.span, f"written at {where}", helps))
    if override.operation == "add" or present is not None or is_typed or len(override.path) < 3:
        return
    candidates = _keys_at(document, override.path[:-1])
    helps = did_you_mean(override.name, candidates)
    message = f"there is no key `{override.name}`"
    raise InputError(Diagnostic("AM112", message, override.span, "", (*helps, "to add it, put `+` before the key")))


def _keys_at(document: MappingNode, path: Path) -> list[str]:
    parent = node_at(document, path)
    steps: list[Any] = []
    if isinstance(parent, MappingNode):
        steps = list(parent.entries)
    elif isinstance(parent, SequenceNode):
        steps = list(range(len(parent.items)))
    return [format_path((*path, step)) for step in steps]


def _nothing_there(document: MappingNode, override: Override) -> Diagnostic:
    helps = did_you_mean(override.name, _keys_at(document, override.path[:-1])) or (
        "remove it: there is nothing to delete",
    )
    message = f"there is no key `{override.name}` to delete"
    return Diagnostic("AM112", message, override.span, "not in the config", helps)


def _not_enterable(document: MappingNode, override: Override, step: object) -> Diagnostic:
    position = next((n for n, part in enumerate(override.path) if part == step), len(override.path) - 1)
    outer = override.path[:position]
    parent = node_at(document, outer)
    if isinstance(parent, SequenceNode):
        length = len(parent.items)
        message = f"`{format_path(outer)}` is a list of {length}: it has no item `{step}`"
        helps = (f"indices go from 0 to {length - 1}",) if length else ()
        return Diagnostic("AM112", message, override.span, "", helps)
    shown = parent.value if isinstance(parent, ScalarNode) else None
    message = f"`{format_path(outer)}` is `{shown}`, so it has no key `{step}`"
    helps = (f"write `{format_path(outer)}=VALUE`",) if outer else ()
    return Diagnostic("AM112", message, override.span, "not a mapping", helps)
