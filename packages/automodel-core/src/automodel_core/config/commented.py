"""A config as YAML text with comments: those that its author wrote, and those that are given for a path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from automodel_core.config.dump import dump_value
from automodel_core.config.nodes import Entry, MappingNode, Node, ScalarNode, SequenceNode
from automodel_core.config.paths import Path
from automodel_core.diagnostics import Span

_AFTER_VALUE: Final = re.compile(r"\s*#\s?(.*)")
_AFTER_KEY: Final = re.compile(r"[\"']?\s*[:=]\s*#\s?(.*)")
_INDENT: Final = "  "


@attrs.frozen
class CommentedWriter:
    """``source`` are the lines that the nodes were read from; ``notes`` are comments by path."""

    source: Sequence[str]
    notes: Mapping[Path, str]

    def text(self, document: MappingNode) -> str:
        """Return the YAML of ``document``, a blank line between sections."""
        sections = ["\n".join(self._entry(entry, (), "")) for entry in document.entries.values()]
        return "\n\n".join(sections) + "\n"

    def _entry(self, entry: Entry, above: Path, indent: str) -> Iterator[str]:
        path = (*above, entry.key)
        for line in self._comments_above(entry.key_span):
            yield f"{indent}# {line}".rstrip()
        key = dump_value(entry.key)
        if isinstance(entry.node, MappingNode) and entry.node.entries:
            yield self._with_comments(f"{indent}{key}:", path, self._after(entry.key_span, _AFTER_KEY))
            for inner in entry.node.entries.values():
                yield from self._entry(inner, path, indent + _INDENT)
        else:
            after = self._after(entry.node.span, _AFTER_VALUE)
            yield self._with_comments(f"{indent}{key}: {_value(entry.node)}", path, after)

    def _with_comments(self, line: str, path: Path, written: str) -> str:
        said = "; ".join(filter(None, (written, self.notes.get(path, ""))))
        return f"{line}  # {said}" if said else line

    def _after(self, span: Span, pattern: re.Pattern[str]) -> str:
        if not 0 < span.line <= len(self.source):
            return ""
        match = pattern.fullmatch(self.source[span.line - 1][span.end_column - 1 :])
        return match[1].strip() if match else ""

    def _comments_above(self, span: Span) -> list[str]:
        """Return the comments on the lines right above a key that is the first on its line."""
        number = span.line - 1
        if not 0 < number < len(self.source) or self.source[number][: span.column - 1].strip():
            return []
        found: list[str] = []
        while number > 0 and self.source[number - 1].lstrip().startswith("#"):
            number -= 1
            found.insert(0, self.source[number].strip().removeprefix("#").strip())
        return found


def _value(node: Node) -> str:
    """Return a value on one line; text that was quoted stays so, since a quoted reference is text."""
    if isinstance(node, ScalarNode):
        if node.quoted and isinstance(node.value, str) and "\n" not in node.value and node.value.isprintable():
            return "'" + node.value.replace("'", "''") + "'"
        return dump_value(node.value)
    if isinstance(node, SequenceNode):
        return "[" + ", ".join(map(_value, node.items)) + "]"
    return "{" + ", ".join(f"{dump_value(e.key)}: {_value(e.node)}" for e in node.entries.values()) + "}"
