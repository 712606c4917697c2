"""The words of a command line to overrides: ``--a.b v``, ``--a.b=v``, ``a.b=v``, ``+a.b=v``, ``~a.b``.

Splitting is our own: argument parsers that let unknown options through bind ``--optimizer.lr 3e-4 cfg.yaml``
wrongly. Nothing is dropped: a word that is not an override is a problem.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

import attrs

from automodel_core.config.nodes import MappingNode, Node, ScalarNode, SequenceNode
from automodel_core.config.paths import Path, PathError, format_path, parse_path
from automodel_core.config.scalars import NumberTooLongError, is_number_text, resolve_scalar
from automodel_core.config.text import SourceText, source_text
from automodel_core.config.yaml_source import parse_yaml
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.errors import InputError

COMMAND_LINE = "<command line>"
KNOWN_FLAGS = ("--config", "--help", "--plugin", "--trust", "--nproc-per-node", "--nnodes", "--version")

Operation = Literal["set", "add", "delete"]
_QUOTED = "'\""
_BLANK = " \t\r\n"


@attrs.frozen(eq=False)
class Override:
    """One change to a config. ``value`` is ``None`` for a deletion; ``span`` is the path in the user's words."""

    operation: Operation
    path: Path
    span: Span
    value: Node | None = None

    @property
    def name(self) -> str:
        return format_path(self.path)


@attrs.frozen
class SplitOverrides:
    """The overrides in their order, and the words that are none."""

    overrides: tuple[Override, ...]
    problems: tuple[Diagnostic, ...]


@attrs.frozen
class _Word:
    """One override as text: ``shown`` is what the user typed, the path and the value are slices of it."""

    shown: str
    operation: Operation
    name: str
    name_at: int
    value_at: int | None


def split_overrides(words: Sequence[str], known_keys: Collection[str]) -> SplitOverrides:
    """Read the words. ``known_keys`` are dotted keys, for suggestions only."""
    overrides: list[Override] = []
    problems: list[Diagnostic] = []
    position = 0
    while position < len(words):
        taken = 1
        try:
            word, taken = _next_word(words, position, known_keys)
            overrides.append(_override(word, known_keys))
        except InputError as error:
            problems.extend(error.diagnostics)
            taken = max(taken, _words_to_skip(words, position))
        position += taken
    return SplitOverrides(tuple(overrides), tuple(problems))


def _next_word(words: Sequence[str], position: int, known_keys: Collection[str]) -> tuple[_Word, int]:
    text = words[position]
    if text.startswith("--") and text != "--":
        return _flag(words, position)
    if text.startswith("~"):
        return _Word(text, "delete", text[1:], 1, None), 1
    name, equals, _ = text.partition("=")
    if not equals:
        raise InputError(_stray(text, known_keys))
    if text.startswith("-"):
        raise InputError(_unknown_flag(text, name, known_keys))
    if text.startswith("+"):
        return _Word(text, "add", name[1:], 1, len(name) + 1), 1
    return _Word(text, "set", name, 0, len(name) + 1), 1


def _flag(words: Sequence[str], position: int) -> tuple[_Word, int]:
    text = words[position]
    name, equals, _ = text.partition("=")
    if equals:
        return _Word(text, "set", name[2:], 2, len(name) + 1), 1
    if not _has_value(words, position):
        raise InputError(
            Diagnostic(
                "AM110",
                f"`{text}` has no value",
                _whole(text),
                "a value must follow",
                (f"write `{text} VALUE`, or `{text}=VALUE` when the value starts with `-`",),
            )
        )
    shown = f"{text} {words[position + 1]}"
    return _Word(shown, "set", text[2:], 2, len(text) + 1), 2


def _has_value(words: Sequence[str], position: int) -> bool:
    if position + 1 >= len(words):
        return False
    following = words[position + 1]
    return not following.startswith("-") or following == "-" or is_number_text(following)


def _words_to_skip(words: Sequence[str], position: int) -> int:
    """Return how many words a refused word spans: a flag takes its value with it."""
    text = words[position]
    if text.startswith("-") and "=" not in text and _has_value(words, position):
        return 1 if "=" in words[position + 1] else 2
    return 1


def _override(word: _Word, known_keys: Collection[str]) -> Override:
    end = word.name_at + len(word.name)
    span = Span(COMMAND_LINE, 1, word.name_at + 1, end + 1, word.shown)
    try:
        path = parse_path(word.name)
    except PathError:
        if word.shown.startswith("--"):
            raise InputError(_unknown_flag(word.shown, "--" + word.name, known_keys)) from None
        helps = did_you_mean(word.name, known_keys)
        raise InputError(Diagnostic("AM110", f"`{word.name}` is not a dotted key", span, "", helps)) from None
    if word.value_at is None:
        if "=" in word.name:
            raise InputError(
                Diagnostic(
                    "AM110",
                    "`~` deletes a key and takes no value",
                    span,
                    "remove the value",
                    (f"write `~{word.name.partition('=')[0]}`",),
                )
            )
        return Override(word.operation, path, span)
    return Override(word.operation, path, span, parse_value(word.shown, word.value_at))


def parse_value(shown: str, start: int) -> Node:
    """Read the value that begins at ``start`` of ``shown``.

    A list, a mapping or quoted text is YAML; anything else is one scalar, whatever signs it holds, so that
    ``*_proj`` and ``a: b`` need no quotes.

    Raises:
        InputError: AM114 when a list, mapping or quoted text is not closed, AM101 and AM105 as in a file.
    """
    raw = shown[start:]
    source = source_text(COMMAND_LINE, shown)
    text = raw.strip(_BLANK)
    if text[:1] in ("[", "{", *_QUOTED) and text:
        return _flow_value(shown, start, text)
    column = start + len(raw) - len(raw.lstrip(_BLANK))
    span = _slice(source, column, column + len(text))
    try:
        return ScalarNode(resolve_scalar(text), span)
    except NumberTooLongError as error:
        raise InputError(
            Diagnostic("AM105", str(error), span, "too long", ("quote it if it is meant as text",))
        ) from None


def _flow_value(shown: str, start: int, text: str) -> Node:
    padded = SourceText(COMMAND_LINE, " " * start + shown[start:], source_text(COMMAND_LINE, shown).lines)
    try:
        node = parse_yaml(padded)
    except InputError as error:
        raise InputError([_value_problem(found, shown) for found in error.diagnostics]) from None
    assert node is not None
    _refuse_glued_colons(node)
    return node


def _value_problem(found: Diagnostic, shown: str) -> Diagnostic:
    if found.code != "AM102":
        return found
    if found.span is not None and found.span.line > 1:  # a bracket or a quote that is never closed
        end = len(shown)
        found = attrs.evolve(found, span=Span(COMMAND_LINE, 1, end + 1, end + 2, shown))
    message = found.message.replace(f"`{COMMAND_LINE}` is not valid YAML", "the value is not a list, mapping or text")
    kind = "put text that starts with a bracket or a quote in two pairs of quotes: `'\"…\"'`"
    return attrs.evolve(found, code="AM114", message=message, helps=(*found.helps, kind))


def _refuse_glued_colons(node: Node) -> None:
    if isinstance(node, SequenceNode):
        for item in node.items:
            _refuse_glued_colons(item)
    elif isinstance(node, MappingNode):
        for entry in node.entries.values():
            empty = isinstance(entry.node, ScalarNode) and entry.node.value is None and not _width(entry.node.span)
            if empty and re.fullmatch(r"[^\s:]+:.+", str(entry.key)):
                name, _, rest = str(entry.key).partition(":")
                helps = (f"put a space after the colon: `{name}: {rest}`",)
                raise InputError(Diagnostic("AM114", f"`{entry.key}` has no value", entry.key_span, "", helps))
            _refuse_glued_colons(entry.node)


def _width(span: Span) -> int:
    return span.end_column - span.column


def _slice(source: SourceText, start: int, end: int) -> Span:
    first = source.lines[0] if source.lines else ""
    if end <= len(first) or len(source.lines) == 1:
        return source.span(0, start, 0, end)
    return source.span(0, start, 1, 0)


def _whole(text: str) -> Span:
    return Span(COMMAND_LINE, 1, 1, len(text) + 1, text)


def _stray(text: str, known_keys: Collection[str]) -> Diagnostic:
    if text.startswith("-"):
        return _unknown_flag(text, text, known_keys)
    helps = (*did_you_mean(text, known_keys), "an override is `--section.key VALUE` or `section.key=VALUE`")
    return Diagnostic("AM110", f"`{text}` is not an override", _whole(text), "no `=`", helps)


def _unknown_flag(shown: str, flag: str, known_keys: Collection[str]) -> Diagnostic:
    helps = (*suggest_keys(flag.lstrip("-"), known_keys, flag), "an override is `--section.key VALUE`")
    return Diagnostic("AM110", f"unknown option `{flag}`", _whole(shown), "", helps[:1])


def suggest_keys(name: str, known_keys: Collection[str], flag: str = "") -> tuple[str, ...]:
    """Return a help line with the known keys, or the last parts of known keys, that look like ``name``."""
    spelled = name.replace("-", "_")
    if "." in spelled:
        return did_you_mean(spelled, known_keys)
    by_last: dict[str, list[str]] = {}
    for key in known_keys:
        by_last.setdefault(key.rpartition(".")[2], []).append(key)
    candidates: dict[str, str] = {last: " or ".join(f"`--{key}`" for key in keys[:3]) for last, keys in by_last.items()}
    if flag:
        candidates.update({known.lstrip("-").replace("-", "_"): f"`{known}`" for known in KNOWN_FLAGS})
    best = did_you_mean_in(spelled, candidates)
    return (f"did you mean {best}?",) if best else ()


def did_you_mean_in(name: str, shown_by_name: dict[str, str]) -> str:
    """Return how the closest of the names is shown, or an empty text."""
    from automodel_core.diagnostics import closest

    best = closest(name, shown_by_name, limit=1)
    return shown_by_name[best[0]] if best else ""
