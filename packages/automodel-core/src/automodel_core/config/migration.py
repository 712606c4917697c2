"""A config of another system in our spelling, with a comment for each change and what has no counterpart."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from automodel_core.config.aliases import RenamedKey, canonical_keys
from automodel_core.config.commented import CommentedWriter
from automodel_core.config.component import TARGET_KEY
from automodel_core.config.dump import dump_value
from automodel_core.config.load import load_run_config
from automodel_core.config.nodes import Entry, MappingNode, Node, ScalarNode, SequenceNode, removed
from automodel_core.config.paths import Path, format_path, parse_path
from automodel_core.config.retired import without_retired
from automodel_core.config.source import read_source
from automodel_core.config.trust import declared_owner
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError
from automodel_core.specs import TargetSpec

WITHOUT_COUNTERPART: Final = frozenset({"AM140", "AM141", "AM207", "AM217"})
"""Diagnostics at a key that nothing here reads."""

_UNSET_VARIABLE: Final = "AM121"
"""Which variables are set where a config is migrated is no matter of spelling."""


@attrs.frozen
class Migration:
    """The new text, how many things changed, and what could not be brought over."""

    text: str
    changes: int
    left_out: tuple[Diagnostic, ...]
    """Keys that nothing here reads: at the end of the text, as comments."""
    problems: tuple[Diagnostic, ...]
    """What else is wrong, in the text as it was: targets that are not available, values that are not allowed."""


def migrate(source: str | os.PathLike[str], vocabulary: Vocabulary, recipes: Mapping[str, str]) -> Migration:
    """Return the config in ``source`` in our spelling. ``recipes`` are our names of recipes by every name.

    Raises:
        InputError: when it cannot be read, or two spellings of one key differ.
    """
    document = read_source(source)
    canonical = canonical_keys(document, vocabulary.key_aliases)
    if canonical.problems:
        raise InputError(canonical.problems)
    current = without_retired(canonical.document, vocabulary.retired_keys)
    notes: dict[Path, str] = {parse_path(r.new): _was(r) for r in canonical.renamed if r.new is not None}
    renamed = _Targets(vocabulary, recipes, notes)
    written = renamed.document(current.document)
    found = _problems(source, vocabulary)
    left_out = tuple(problem for problem in found if problem.code in WITHOUT_COUNTERPART)
    places = {problem.span for problem in left_out if problem.span is not None}
    kept, _ = _without(written, places)
    _, dropped = _without(canonical.document, places)
    text = CommentedWriter(_lines(source), notes).text(kept)
    text += _appendix("these keys say nothing here, and what they ask for is done anyway", map(_line, current.retired))
    text += _appendix("these keys have no counterpart", dropped)
    problems = tuple(problem for problem in found if problem.code not in WITHOUT_COUNTERPART)
    return Migration(text, len(notes) + len(current.retired), left_out, problems)


def _was(renamed: RenamedKey) -> str:
    return f"was `{renamed.old}`" + (f": {renamed.note}" if renamed.note else "")


def _line(retired: RenamedKey) -> str:
    said = f"  ({retired.note})" if retired.note else ""
    return f"{retired.old}: {dump_value(retired.value)}{said}"


def _appendix(title: str, lines: Iterator[str] | list[str]) -> str:
    body = "".join(f"#   {line}\n" for line in lines)
    return f"\n# {title}:\n{body}" if body else ""


def _problems(source: str | os.PathLike[str], vocabulary: Vocabulary) -> tuple[Diagnostic, ...]:
    from automodel_core.config.rules import ARGUMENT_RULES, RULES

    try:
        load_run_config(source, vocabulary=vocabulary, required=(), rules=(*RULES, *ARGUMENT_RULES))
    except InputError as error:
        return tuple(problem for problem in error.diagnostics if problem.code != _UNSET_VARIABLE)
    return ()


def _lines(source: str | os.PathLike[str]) -> list[str]:
    with open(source, encoding="utf-8-sig") as stream:
        return stream.read().splitlines()


@attrs.frozen
class _Targets:
    """Names of targets and recipes brought to ours; ``notes`` is told of each."""

    vocabulary: Vocabulary
    recipes: Mapping[str, str]
    notes: dict[Path, str]

    def document(self, document: MappingNode) -> MappingNode:
        entries = dict(document.entries)
        for key, entry in entries.items():
            if key == "recipe" and isinstance(entry.node, ScalarNode):
                entries[key] = attrs.evolve(entry, node=self._recipe(entry.node))
            elif key in self.vocabulary.sections:
                entries[key] = attrs.evolve(entry, node=self._node(entry.node, (key,)))
        return attrs.evolve(document, entries=entries)

    def _recipe(self, node: ScalarNode) -> ScalarNode:
        ours = self.recipes.get(str(node.value), node.value)
        if ours != node.value:
            self._note(("recipe",), f"was `{node.value}`")
        return attrs.evolve(node, value=ours)

    def _node(self, node: Node, path: Path) -> Node:
        if isinstance(node, SequenceNode):
            return attrs.evolve(node, items=tuple(self._node(n, (*path, i)) for i, n in enumerate(node.items)))
        if isinstance(node, ScalarNode):
            return self._target(node, path) if path[-1] == TARGET_KEY else node
        entries = {k: attrs.evolve(e, node=self._node(e.node, (*path, k))) for k, e in node.entries.items()}
        return attrs.evolve(node, entries=entries)

    def _target(self, node: ScalarNode, path: Path) -> ScalarNode:
        name = str(node.value)
        owner = declared_owner(name, self.vocabulary)
        spec = None if owner is None else self.vocabulary.targets[owner]
        if owner is None or spec is None or owner == spec.name:
            return node
        stands_in = isinstance(spec, TargetSpec) and owner in spec.fallback_for
        self._note(path, f"was `{name}`" + (f": {spec.note}" if isinstance(spec, TargetSpec) and stands_in else ""))
        return attrs.evolve(node, value=spec.name + name[len(owner) :])

    def _note(self, path: Path, text: str) -> None:
        self.notes[path] = "; ".join(filter(None, (self.notes.get(path), text)))


def _without(document: MappingNode, places: set[Span]) -> tuple[MappingNode, list[str]]:
    """Return the document without the keys at ``places``, and these as lines."""
    dropped: list[str] = []
    for path, entry in list(_entries(document, ())):
        if entry.key_span in places and document.entry_at(path) is not None:
            root = removed(document, path)
            assert isinstance(root, MappingNode)
            document = root
            dropped.append(f"{format_path(path)}: {dump_value(entry.node.to_data())}")
    return document, dropped


def _entries(node: Node, path: Path) -> Iterator[tuple[Path, Entry]]:
    if isinstance(node, MappingNode):
        for key, entry in node.entries.items():
            yield (*path, key), entry
            yield from _entries(entry.node, (*path, key))
