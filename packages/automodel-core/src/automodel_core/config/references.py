"""References in the scalars of a config: ``${section.key}``, ``${env:NAME}``, ``${env:NAME,default}``,
``${asset:NAME}``.

Only the config is read for references, never data. ``$${`` stands for a literal ``${``. A scalar that is one
reference takes the value with its type; a reference inside text is written into the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from automodel_core.cache import asset_directory
from automodel_core.config.nodes import (
    Entry,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    child,
    existing_key,
    expanded_size,
)
from automodel_core.config.paths import Path, PathError, format_path, list_index, parse_path
from automodel_core.config.scalars import NumberTooLongError, Scalar, resolve_scalar
from automodel_core.config.yaml_source import LARGEST_TREE
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean

ASSET_PREFIX = "asset:"
ENVIRONMENT_PREFIXES = ("env:", "oc.env:")
_DEEPEST = 150
_LONGEST_TEXT = 256 * 1024


@attrs.frozen
class Resolved:
    """A config without references, and what could not be resolved."""

    document: MappingNode
    problems: tuple[Diagnostic, ...]


class _UnresolvedError(Exception):
    """A reference that failed and whose problem is recorded."""


def resolve_references(document: MappingNode, environment: Mapping[str, str]) -> Resolved:
    """Replace every reference by what it names; one that fails stays as it was written."""
    resolver = _Resolver(document, environment)
    root = resolver.resolve(document, ())
    assert isinstance(root, MappingNode)
    if expanded_size(root) > LARGEST_TREE:
        message = f"the references expand to more than {LARGEST_TREE:,} values"
        return Resolved(document, (*resolver.problems, Diagnostic("AM105", message, document.span)))
    return Resolved(root, tuple(resolver.problems))


def escape_references(data: object) -> object:
    """Return plain data in which every ``${`` is written so that it stays text."""
    if isinstance(data, str):
        return data.replace("${", "$${")
    if isinstance(data, Mapping):
        return {key: escape_references(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [escape_references(value) for value in data]
    return data


class _Resolver:
    def __init__(self, root: MappingNode, environment: Mapping[str, str]) -> None:
        self.root = root
        self.environment = environment
        self.problems: list[Diagnostic] = []
        self.done: dict[Path, Node] = {}
        self.failed: set[Path] = set()
        self.active: list[Path] = []

    def resolve(self, node: Node, path: Path) -> Node:
        """Return ``node`` without references; what fails inside a collection stays as it was written."""
        if path in self.done:
            return self.done[path]
        if path in self.failed:
            raise _UnresolvedError
        if path in self.active:
            raise self.failure(node.span, "AM122", f"`{format_path(path)}` refers to itself", "in a circle", (_CIRCLE,))
        if len(self.active) > _DEEPEST:
            raise self.failure(node.span, "AM122", "the references go too deep", "one reference too many", (_CIRCLE,))
        self.active.append(path)
        try:
            self.done[path] = self.resolve_inside(node, path)
        except _UnresolvedError:
            self.failed.add(path)
            raise
        finally:
            self.active.pop()
        return self.done[path]

    def resolve_inside(self, node: Node, path: Path) -> Node:
        if isinstance(node, MappingNode):
            entries = {
                key: Entry(key, entry.key_span, self.resolve_child(entry.node, (*path, key)))
                for key, entry in node.entries.items()
            }
            return attrs.evolve(node, entries=entries)
        if isinstance(node, SequenceNode):
            items = [self.resolve_child(item, (*path, index)) for index, item in enumerate(node.items)]
            return attrs.evolve(node, items=tuple(items))
        if isinstance(node.value, str) and "${" in node.value:
            return self.resolve_text(node, node.value)
        return node

    def resolve_child(self, node: Node, path: Path) -> Node:
        try:
            return self.resolve(node, path)
        except _UnresolvedError:
            return node

    def failure(self, span: Span, code: str, message: str, label: str, helps: tuple[str, ...] = ()) -> _UnresolvedError:
        self.problems.append(Diagnostic(code, message, span, label, helps))
        return _UnresolvedError()

    def resolve_text(self, node: ScalarNode, text: str) -> Node:
        pieces = self.pieces(node, text)
        if len(pieces) == 1 and not isinstance(pieces[0], str):
            return attrs.evolve(pieces[0], span=node.span)
        parts = [piece if isinstance(piece, str) else self.written(node, piece) for piece in pieces]
        if sum(map(len, parts)) > _LONGEST_TEXT:
            raise self.failure(node.span, "AM105", "the references expand to too much text", "")
        return attrs.evolve(node, value="".join(parts))

    def written(self, node: ScalarNode, piece: Node) -> str:
        if not isinstance(piece, ScalarNode):
            kind = "a mapping" if isinstance(piece, MappingNode) else "a list"
            raise self.failure(node.span, "AM123", f"{kind} cannot be written inside text", "", (_ONE_VALUE,))
        if piece.value is None or isinstance(piece.value, bool):
            return {None: "null", True: "true", False: "false"}[piece.value]
        return str(piece.value)

    def pieces(self, node: ScalarNode, text: str) -> list[str | Node]:
        """Split ``text`` into plain text and the values of its references."""
        pieces: list[str | Node] = []
        position = 0
        while (start := text.find("${", position)) >= 0:
            escaped = start > position and text[start - 1] == "$"
            before = text[position : start - 1 if escaped else start]
            if before or escaped:
                pieces.append(before + "${" if escaped else before)
            if escaped:
                position = start + 2
                continue
            end = text.find("}", start)
            if end < 0:
                raise self.failure(node.span, "AM123", "a reference is not closed", "no `}` after `${`", (_ESCAPE,))
            pieces.append(self.value_of(node, text[start + 2 : end].strip(" \t\n")))
            position = end + 1
        if text[position:] or not pieces:
            pieces.append(text[position:])
        return pieces

    def value_of(self, node: ScalarNode, name: str) -> Node:
        for prefix in ENVIRONMENT_PREFIXES:
            if name.startswith(prefix):
                return self.from_environment(node, name.removeprefix(prefix))
        if name.startswith(ASSET_PREFIX):
            return self.from_assets(node, name.removeprefix(ASSET_PREFIX).strip())
        try:
            path = parse_path(name)
        except PathError:
            raise self.failure(node.span, "AM123", f"`${{{name}}}` is not a reference", "", (_FORMS, _ESCAPE)) from None
        return self.lookup(node, path)

    def from_environment(self, node: ScalarNode, rest: str) -> Node:
        name, comma, default = rest.partition(",")
        name = name.strip()
        if name in self.environment:
            text = self.environment[name]
        elif comma:
            text = default.strip(" \t")
        elif not name:
            raise self.failure(node.span, "AM123", "a variable without a name", "", (_FORMS,))
        else:
            key = format_path(self.active[-1])
            message = f"`{key}` needs the environment variable `{name}`, which is not set"
            helps = (f"set it, or give a default: `${{env:{name},default}}`",)
            raise self.failure(node.span, "AM121", message, "not set", helps)
        try:
            value: Scalar = text if node.quoted else resolve_scalar(text)
        except NumberTooLongError:
            value = text
        return attrs.evolve(node, value=value)

    def from_assets(self, node: ScalarNode, name: str) -> Node:
        """Return the directory of an asset that was fetched; nothing is downloaded here."""
        directory = asset_directory(name, self.environment)
        if not name or "/" in name or not directory.is_dir():
            helps = (f"`automodel assets fetch {name}`", "`automodel assets list` shows what there is")
            raise self.failure(node.span, "AM124", f"the asset `{name}` is not on this machine", "not fetched", helps)
        return attrs.evolve(node, value=str(directory))

    def lookup(self, node: ScalarNode, path: Path) -> Node:
        """Return the resolved node at ``path``, going through references on the way."""
        current: Node = self.root
        walked: Path = ()
        is_resolved = False
        for step in path:
            if not is_resolved and isinstance(current, ScalarNode):
                current = self.resolve(current, walked)
                is_resolved = True
            below = child(current, step)
            if below is None:
                raise self.unknown(node, path, walked, current)
            key = existing_key(current, step) if isinstance(current, MappingNode) else list_index(step)
            current, walked = below, (*walked, step if key is None else key)
        return current if is_resolved else self.resolve(current, walked)

    def unknown(self, node: ScalarNode, path: Path, walked: Path, at: Node) -> _UnresolvedError:
        name = format_path(path)
        message = f"`{format_path(self.active[-1])}` refers to `{name}`, which is not there"
        return self.failure(
            node.span, "AM120", message, "", _unknown_help(name, walked, at, is_one_word=len(path) == 1)
        )


def _unknown_help(name: str, walked: Path, at: Node, *, is_one_word: bool) -> tuple[str, ...]:
    """Return what a reference that leads nowhere may have been meant as; ``at`` is the last value on its way."""
    shell = re.fullmatch(r"(\w+):[-=](.*)", name)
    if shell is not None:
        return (f"for an environment variable with a default write `${{env:{shell[1]},{shell[2]}}}`",)
    if ":" in name:
        return (_FORMS,)
    keys = [format_path((*walked, key)) for key in at.entries] if isinstance(at, MappingNode) else []
    helps = did_you_mean(name, keys)
    if is_one_word:
        return (*helps, f"for an environment variable write `${{env:{name}}}`")
    if isinstance(at, SequenceNode):
        return (f"`{format_path(walked)}` is a list of {len(at.items)}, counted from 0",)
    shown = ", ".join(f"`{key}`" for key in keys[:8])
    return helps or ((f"there are {shown}",) if shown else (f"`{format_path(walked)}` has no keys",))


_ESCAPE = "write `$${` for a literal `${`"
_FORMS = "the forms are `${section.key}`, `${env:NAME}`, `${env:NAME,default}` and `${asset:NAME}`"
_CIRCLE = "write the value itself in one of these places"
_ONE_VALUE = "name one value of it: `${section.key}`"
