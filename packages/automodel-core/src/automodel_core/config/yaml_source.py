"""YAML to nodes: the events of PyYAML's C parser, our own scalars, every key and value with its place.

Composing from events keeps untrusted input harmless: depth and expanded size are bounded while reading, an anchor
that contains itself is seen when it is used, and no tag ever constructs an object.
"""

from __future__ import annotations

from typing import Any

import attrs
import yaml

from automodel_core.config.nodes import Entry, Key, MappingNode, Node, ScalarNode, SequenceNode
from automodel_core.config.scalars import NumberTooLongError, Scalar, is_number_text, resolve_scalar
from automodel_core.config.text import SourceText
from automodel_core.config.yaml_mistakes import mistake
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.errors import InputError

DEEPEST = 64
LARGEST_TREE = 100_000
MOST_PROBLEMS = 100
"""After so many, reading stops: the file is not a config."""

_TAG = "tag:yaml.org,2002:"
_COLLECTION_TAGS = {"mapping": _TAG + "map", "sequence": _TAG + "seq"}
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@attrs.frozen(eq=False)
class _Sized:
    """A node, and how many nodes it has when every alias is written out."""

    node: Node
    size: int


def parse_yaml(source: SourceText) -> Node | None:
    """Return the root of the only document in ``source``, or ``None`` when there is no document.

    Raises:
        InputError: with every duplicate key and unknown tag, or with the first error of syntax, depth or size.
    """
    composer = _Composer(source)
    try:
        root = composer.document()
    except yaml.YAMLError as error:
        raise InputError(_syntax_error(source, error)) from None
    if composer.problems:
        raise InputError(composer.problems)
    return root


class _Composer:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.loader = _Loader(source.text)
        self.anchors: dict[str, _Sized | None] = {}
        self.problems: list[Diagnostic] = []

    def document(self) -> Node | None:
        self.loader.get_event()
        if isinstance(self.loader.get_event(), yaml.StreamEndEvent):
            return None
        root = self.node(self.loader.get_event(), 1).node
        self.loader.get_event()
        extra = self.loader.get_event()
        if not isinstance(extra, yaml.StreamEndEvent):
            raise InputError(
                Diagnostic(
                    "AM102",
                    f"`{self.source.name}` holds more than one YAML document",
                    self.span(extra),
                    "a second document starts here",
                    ("keep one document, and remove the `---` line",),
                )
            )
        return root

    def report(self, problem: Diagnostic) -> None:
        self.problems.append(problem)
        if len(self.problems) >= MOST_PROBLEMS:
            raise InputError(self.problems)

    def span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        return self.source.span(start.line, start.column, end.line, end.column)

    def node(self, event: Any, depth: int) -> _Sized:
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            sized = _Sized(self.scalar(event), 1)
        elif depth > DEEPEST:
            raise InputError(self.too_big(event, f"values are nested more than {DEEPEST} deep"))
        elif isinstance(event, yaml.SequenceStartEvent):
            sized = self.sequence(event, depth)
        else:
            sized = self.mapping(event, depth)
        if sized.size > LARGEST_TREE:
            raise InputError(self.too_big(event, f"the config expands to more than {LARGEST_TREE:,} values"))
        if event.anchor is not None:
            self.anchors[event.anchor] = sized
        return sized

    def too_big(self, event: Any, message: str) -> Diagnostic:
        return Diagnostic("AM105", message, self.span(event), "here", ("a config is small: keep data in data files",))

    def alias(self, event: Any) -> _Sized:
        name = event.anchor
        if name not in self.anchors:
            helps = (*did_you_mean(name, self.anchors), f"quote it if it is text: `'*{name}'`")
            raise InputError(
                Diagnostic("AM102", f"no anchor is named `{name}`", self.span(event), "not defined before", helps)
            )
        sized = self.anchors[name]
        if sized is None:
            raise InputError(
                Diagnostic(
                    "AM105",
                    f"the anchor `{name}` contains itself",
                    self.span(event),
                    "used inside itself",
                    ("write out what is meant here",),
                )
            )
        return sized

    def scalar(self, event: Any) -> ScalarNode:
        span = self.span(event)
        if "\0" in event.value:
            helps = ("remove it",)
            self.report(Diagnostic("AM106", "a value must not have a NUL character", span, "", helps))
        plain = event.implicit[0] and event.tag is None
        if event.tag in (None, "!"):
            value = self.resolved(event.value, span) if plain else event.value
            return ScalarNode(value, span, quoted=not plain)
        return ScalarNode(self.tagged(event, span), span, quoted=event.tag == _TAG + "str")

    def resolved(self, text: str, span: Span) -> Scalar:
        try:
            return resolve_scalar(text)
        except NumberTooLongError as error:
            self.report(Diagnostic("AM105", str(error), span, "too long", ("quote it if it is meant as text",)))
            return None

    def tagged(self, event: Any, span: Span) -> Scalar:
        kinds = {"str": str, "int": int, "float": float, "bool": bool, "null": type(None)}
        kind = kinds.get(event.tag.removeprefix(_TAG))
        if kind is str:
            return str(event.value)
        value = self.resolved(event.value, span)
        if kind is float and type(value) is int:
            value = float(value)
        if kind is None or type(value) is not kind:
            self.unknown_tag(event.tag, span)
        return value

    def unknown_tag(self, tag: str, span: Span) -> None:
        shown = tag.replace(_TAG, "!!")
        helps = ("remove the tag; code is named by `_target_`",)
        self.report(Diagnostic("AM106", f"the tag `{shown}` cannot be used here", span, "", helps))

    def check_collection_tag(self, event: Any, kind: str) -> None:
        if event.tag not in (None, "!", _COLLECTION_TAGS[kind]):
            self.unknown_tag(event.tag, self.span(event))

    def sequence(self, start: Any, depth: int) -> _Sized:
        self.check_collection_tag(start, "sequence")
        items: list[Node] = []
        size = 1
        event = self.loader.get_event()
        while not isinstance(event, yaml.SequenceEndEvent):
            item = self.node(event, depth + 1)
            items.append(item.node)
            size += item.size
            if size > LARGEST_TREE:
                break
            event = self.loader.get_event()
        return _Sized(SequenceNode(tuple(items), self.collection_span(start, event)), size)

    def mapping(self, start: Any, depth: int) -> _Sized:
        self.check_collection_tag(start, "mapping")
        entries: dict[Key, Entry] = {}
        merge: Entry | None = None
        size = 1
        event = self.loader.get_event()
        while not isinstance(event, yaml.MappingEndEvent):
            is_merge = isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value == "<<"
            key = self.key(event, depth)
            key_span = self.span(event)
            value = self.node(self.loader.get_event(), depth + 1)
            size += 1 + value.size
            if size > LARGEST_TREE:
                break
            entry = Entry(key, key_span, value.node)
            first = merge if is_merge else entries.get(key)
            if first is not None:
                self.duplicate(first, entry)
            elif is_merge:
                merge = entry
            else:
                entries[key] = entry
            event = self.loader.get_event()
        inherited = {} if merge is None else self.merged(merge)
        return _Sized(MappingNode({**inherited, **entries}, self.collection_span(start, event)), size)

    def collection_span(self, start: Any, end: Any) -> Span:
        first, last = start.start_mark, end.end_mark
        span = self.source.span(first.line, first.column, last.line, last.column)
        flow = span.text[span.column - 1 : span.column] in ("[", "{")
        if flow or span.line == 0:
            return span
        return attrs.evolve(span, end_column=max(span.column, len(span.text.rstrip()) + 1))

    def key(self, event: Any, depth: int) -> Key:
        node = self.node(event, depth + 1).node
        if isinstance(node, ScalarNode) and type(node.value) in (str, int):
            return node.value  # type: ignore[return-value]
        if not isinstance(node, ScalarNode):
            help_line = "write a name before the colon"
        else:
            help_line = f"quote it: `'{node.span.text[node.span.column - 1 : node.span.end_column - 1]}'`"
        self.report(Diagnostic("AM106", "a key must be text", self.span(event), "not a name", (help_line,)))
        return f"<key at {node.span.line}:{node.span.column}>"

    def duplicate(self, first: Entry, second: Entry) -> None:
        self.report(
            Diagnostic(
                "AM103",
                f"the key `{second.key}` is written twice",
                second.key_span,
                f"first written at {first.key_span}",
                ("keep one of the two",),
            )
        )

    def merged(self, merge: Entry) -> dict[Key, Entry]:
        sources = merge.node.items if isinstance(merge.node, SequenceNode) else (merge.node,)
        inherited: dict[Key, Entry] = {}
        for source in sources:
            if not isinstance(source, MappingNode):
                self.report(
                    Diagnostic("AM106", "`<<` merges mappings only", merge.key_span, "", ("write `<<: *anchor`",))
                )
                break
            inherited = {**source.entries, **inherited}
        return inherited


def _syntax_error(source: SourceText, error: yaml.YAMLError) -> Diagnostic:
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    context = str(getattr(error, "context", None) or "")
    start = _place(getattr(error, "context_mark", None))
    place = _place(getattr(error, "problem_mark", None)) or start or (0, 0)
    found = mistake(source.lines, problem, context, place, start)
    return Diagnostic(
        "AM102",
        f"`{source.name}` is not valid YAML: {problem}",
        source.span(found.line, found.column, found.line, found.column + 1),
        context,
        found.helps,
    )


def _place(mark: Any) -> tuple[int, int] | None:
    return None if mark is None else (mark.line, mark.column)


def needs_quotes(text: str) -> bool:
    """Return whether a text would not stay that text if it were written without quotes."""
    return text == "<<" or is_number_text(text) or not isinstance(resolve_scalar(text[:1000]), str)
