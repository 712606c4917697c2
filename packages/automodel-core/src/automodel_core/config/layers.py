"""A config that extends others: theirs below, its own on top, every value with the place where it was written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from automodel_core.config.component import TARGET_KEY
from automodel_core.config.nodes import Entry, MappingNode, Node, ScalarNode, SequenceNode
from automodel_core.config.source import read_source
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

EXTENDS: Final = "extends"
_DEEPEST: Final = 16


def read_layers(source: str | os.PathLike[str] | Mapping[str, Any]) -> MappingNode:
    """Return the nodes of a config over those of the files that its ``extends`` names, which may extend others.

    ``extends`` is a path or a list of paths, relative to the file that has it; a later one lies over an earlier.
    Mappings are joined key by key; lists and values are replaced, and so is a component whose ``_target_`` is another,
    since its arguments are those of its own target.

    Raises:
        InputError: as :func:`read_source` does for each file, at the ``extends`` that names it; AM105 for files that
            extend each other.
    """
    return _layered(read_source(source), _directory_of(source), ())


def _layered(document: MappingNode, directory: Path, above: tuple[Path, ...]) -> MappingNode:
    entry = document.entries.get(EXTENDS)
    if entry is None:
        return document
    own = attrs.evolve(document, entries={key: e for key, e in document.entries.items() if key != EXTENDS})
    below: MappingNode | None = None
    for name in _names(entry):
        layer = _base(name, directory, above)
        below = layer if below is None else _joined(below, layer)
    return own if below is None else _joined(below, own)


def _base(name: ScalarNode, directory: Path, above: tuple[Path, ...]) -> MappingNode:
    path = directory / Path(str(name.value)).expanduser()
    resolved = path.resolve()
    if resolved in above or len(above) >= _DEEPEST:
        message = f"`{name.value}` extends this file in turn, directly or through others"
        raise InputError(Diagnostic("AM105", message, name.span, "in a circle", ("remove it from one of them",)))
    try:
        document = read_source(path)
    except InputError as error:
        if any(problem.span is None for problem in error.diagnostics):
            error.diagnostics = tuple(attrs.evolve(d, span=d.span or name.span) for d in error.diagnostics)
        raise
    return _layered(document, path.parent, (*above, resolved))


def _names(entry: Entry) -> tuple[ScalarNode, ...]:
    node = entry.node
    items = node.items if isinstance(node, SequenceNode) else (node,)
    names = []
    for item in items:
        if not isinstance(item, ScalarNode) or not isinstance(item.value, str) or not item.value:
            helps = (f"for example `{EXTENDS}: base.yaml`",)
            message = f"`{EXTENDS}` must be the path of a config, or a list of paths"
            raise InputError(Diagnostic("AM142", message, item.span, "not a path", helps))
        names.append(item)
    return tuple(names)


def _joined(below: Node, above: Node) -> Any:
    """Return ``above`` over ``below``."""
    if not isinstance(below, MappingNode) or not isinstance(above, MappingNode) or _is_of_another_target(below, above):
        return above
    entries = dict(below.entries)
    for key, entry in above.entries.items():
        old = entries.get(key)
        entries[key] = entry if old is None else attrs.evolve(entry, node=_joined(old.node, entry.node))
    return attrs.evolve(above, entries=entries)


def _is_of_another_target(below: MappingNode, above: MappingNode) -> bool:
    mine, theirs = above.entries.get(TARGET_KEY), below.entries.get(TARGET_KEY)
    if mine is None or theirs is None:
        return False
    return mine.node.to_data() != theirs.node.to_data()


def _directory_of(source: str | os.PathLike[str] | Mapping[str, Any]) -> Path:
    return Path() if isinstance(source, Mapping) else Path(source).parent
