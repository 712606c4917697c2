"""Properties of reading and writing configs."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from automodel_core.config.dump import dump_value, dump_yaml
from automodel_core.config.nodes import MappingNode, Node, ScalarNode, SequenceNode, scalars
from automodel_core.config.python_source import nodes_from_data
from automodel_core.config.scalars import resolve_scalar
from automodel_core.config.source import load_yaml, read_source, read_yaml_text
from automodel_core.diagnostics import Diagnostic, render_blocks, render_concise, render_json
from automodel_core.errors import InputError

AWKWARD = [
    *("1e-5", "yes", "null", "~", "", "<<", "=", "a: b", " x", "x ", "\n", "a\n", "a\n\n", "# c", "*a", "&a", "!x"),
    *("%", "@", "0o17", ".inf", "-", "- a", "---", "...", "?", "{", "[", "'", '"', "\t", "\x85", "\u2028", "a\n b\n"),
    *("\ufeff", "${a.b}", "none", "1_000", "017", "\U0001f600", "a#b", "a #b", ",", "a,b", "}", "]"),
]
characters = st.characters(exclude_categories=("Cs",), exclude_characters="\0")  # which a config cannot hold
texts = st.text(characters, max_size=20) | st.sampled_from(AWKWARD)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts | st.integers(), inner, max_size=4),
    max_leaves=15,
)


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types throughout: ``1``, ``1.0`` and ``True`` differ."""
    if isinstance(one, dict):
        return isinstance(other, dict) and list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


@settings(max_examples=300, deadline=None)
@given(values)
def test_what_is_written_reads_back_the_same(data: Any) -> None:
    assert same(load_yaml(dump_yaml(data)), data)


@settings(max_examples=300, deadline=None)
@given(values)
def test_what_is_written_on_one_line_reads_back_the_same(data: Any) -> None:
    line = dump_value(data)
    assert "\n" not in line
    assert same(load_yaml(line), data)


def test_not_a_number_is_written_too() -> None:
    assert math.isnan(load_yaml(dump_yaml([math.nan]))[0])


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(texts, values, min_size=1, max_size=4))
def test_every_place_slices_back_to_the_text_that_was_read(data: dict[str, Any]) -> None:
    text = dump_yaml(data)
    root = read_yaml_text(text)
    for _, node in scalars(root):
        span = node.span
        assert span.text in text
        written = span.text[span.column - 1 : span.end_column - 1]
        if node.quoted:
            assert written[0] in "'\"|"
        else:
            assert same(resolve_scalar(written), node.value)
    for entry in entries(root):
        span = entry.key_span
        written = span.text[span.column - 1 : span.end_column - 1]
        if written[:1] not in ("'", '"', "|", "?"):
            assert same(resolve_scalar(written), entry.key)


def entries(node: Node) -> Any:
    """Yield every entry of every mapping."""
    if isinstance(node, MappingNode):
        for entry in node.entries.values():
            yield entry
            yield from entries(entry.node)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from entries(item)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(texts, values, max_size=4))
def test_a_python_mapping_and_its_yaml_are_the_same_config(data: dict[str, Any]) -> None:
    root = nodes_from_data(data)
    assert same(root.to_data(), data)
    for _, node in scalars(root):
        assert isinstance(node, ScalarNode)


FRAGMENTS = [
    *("a: ", "b:\n  ", "- ", "[", "]", "{", "}", ", ", "'", '"', "&a ", "*a", "<<: *a", "\n", "  ", "\t", "!!int "),
    *("? ", "|\n", ">\n", "# x\n", "---\n", "...\n", "%YAML 1.2\n", "1e-5", "null", "x", ": ", "\ufeff"),
    *("=", "[[a]]\n", "[a]\n", '"""', "b = 1\n"),
]
soup = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)


@pytest.mark.parametrize("name", ["cfg.yaml", "cfg.toml"])
@settings(max_examples=300, deadline=None)
@example(data=b"\xff\xfe")
@example(data=b"\x00")
@example(data=b"a: &a\n  <<: *a\n")
@given(data=st.binary(max_size=200) | soup.map(str.encode))
def test_no_bytes_give_anything_but_a_config_or_an_input_error(
    name: str, data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(data)
    problems: tuple[Diagnostic, ...] = ()
    loaded: object = {}
    try:
        loaded = read_source(path).to_data()
    except InputError as error:
        problems = error.diagnostics
    assert isinstance(loaded, dict)
    for found in problems:
        assert found.span is None or 1 <= found.span.column <= found.span.end_column
        assert all(render([found]) for render in (render_blocks, render_concise, render_json))
