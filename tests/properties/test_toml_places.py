"""Properties of the places of a TOML document: every value's place slices back to text that means the same value."""

from __future__ import annotations

import math
from typing import Any

import tomli
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from automodel_core.config.nodes import MappingNode, Node, SequenceNode
from automodel_core.config.source import read_source
from automodel_core.config.toml_places import Path, toml_places

bare = st.from_regex(r"[A-Za-z0-9_-]{1,4}", fullmatch=True)
plain = st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\x7f'\"\\\ufffe\uffff"), max_size=5)
keys = bare | plain.map(lambda text: f"'{text}'") | plain.map('"{}"'.format) | st.sampled_from(['"\\u0061b"', '"\\""'])
breaks = st.sampled_from(["", " ", "\n", "\r\n", "  # note, with = and ]\n", "\n\t"])
blanks = st.sampled_from(["", " ", "\t "])
scalar = st.one_of(
    st.integers(-(2**40), 2**40).map(str),
    st.sampled_from(["0xdead_beef", "0o17", "0b1", "1_000", "true", "false", "inf", "-nan", "+0.5e-3", "1e5"]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    plain.map(lambda text: f"'{text}'"),
    plain.map(lambda text: f'"{text}\\"\\n\\u00e9"'),
    st.sampled_from(["'''\nab'c\n'''", '"""a\n"" \\"""" # = [\n"""', '"""\\\n   x"""""', "''''x'''''", '""', '""""""']),
)


def joined(items: list[str], space: str, around: str) -> str:
    return around[0] + space + f"{space},{space}".join(items) + space + around[1]


def containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.lists(st.tuples(keys, inner), max_size=3, unique_by=lambda pair: named(pair[0]))
    arrays = st.builds(lambda items, space: joined(items, space, "[]"), st.lists(inner, max_size=3), breaks)
    return arrays | pairs.map(lambda found: joined([f"{key} = {value}" for key, value in found], " ", "{}"))


def named(key: str) -> str:
    return key if key[0] not in "'\"" else str(next(iter(tomli.loads(f"{key} = 1"))))


values = st.recursive(scalar, containers, max_leaves=6)
assignments = st.builds(
    lambda names, space, value, end: f"{space}{f'{space}.{space}'.join(names)}{space}={space}{value}{space}{end}",
    st.lists(keys, min_size=1, max_size=3),
    blanks,
    values,
    st.sampled_from(["\n", "\r\n", '# it\'s "so"\n']),
)
headers = st.builds(
    lambda names, space, pair: f"{pair[0]}{space}{'.'.join(names)}{space}{pair[1]}\n",
    st.lists(keys, min_size=1, max_size=3),
    blanks,
    st.sampled_from([("[", "]"), ("[[", "]]")]),
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """TOML that a parser takes: a statement that does not fit those before it is left out."""
    text = ""
    for statement in draw(st.lists(assignments | assignments | headers, max_size=8)):
        try:
            tomli.loads(text + statement)
        except tomli.TOMLDecodeError:
            continue
        text += statement
    return text


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def leaves(data: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    below = [leaf for step, item in items for leaf in leaves(item, (*path, step))]
    return below if isinstance(data, dict | list) else [(path, data)]


@settings(max_examples=200, deadline=None)
@given(documents())
def test_the_place_of_every_value_slices_back_to_it(text: str) -> None:
    found = toml_places(text, deepest=64, most=100_000)
    assert found.too_much is None
    known = found.by_path()
    for path, value in leaves(tomli.loads(text)):
        start, end = known[path].value
        assert same(tomli.loads(f"value = {text[start:end]}")["value"], value)
        if isinstance(path[-1], str):
            start, end = known[path].key
            assert named(text[start:end]) == path[-1]


def nodes(node: Node) -> list[Node]:
    below = [entry.node for entry in node.entries.values()] if isinstance(node, MappingNode) else []
    below = list(node.items) if isinstance(node, SequenceNode) else below
    return [node, *(deeper for inner in below for deeper in nodes(inner))]


@settings(max_examples=100, deadline=None)
@given(text=documents())
def test_the_nodes_of_toml_are_what_a_parser_reads_and_each_has_a_place(text: str, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "places.toml"
    path.write_bytes(text.encode())
    assume(tomli.loads(text))  # nothing at all is no config
    root = read_source(path)
    assert same(root.to_data(), tomli.loads(text))
    for node in nodes(root)[1:]:
        span = node.span
        assert span.text in text
        assert span.column <= span.end_column <= len(span.text) + 1


@settings(max_examples=200, deadline=None)
@given(documents(), st.integers(0, 200), st.text("[]{}'\"=.,#\\\n a1", max_size=3))
def test_a_damaged_document_never_breaks_the_scan(text: str, position: int, damage: str) -> None:
    text = text[:position] + damage + text[position + 1 :]
    places = toml_places(text, deepest=64, most=100_000)
    for place in places.written:
        assert 0 <= place.key[0] <= place.key[1] <= len(text)
    places.repeated(len(text))
