"""Properties of writing TOML: what it can say reads back the same."""

from __future__ import annotations

from typing import Any

import pytest
import tomli
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_core.config.dump_toml import NotTomlError, dump_toml
from automodel_core.config.source import read_source

texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)
leaves = st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | texts
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(texts, values, min_size=1, max_size=5))
def test_what_is_written_as_toml_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]
) -> None:
    written = dump_toml(data)
    assert tomli.loads(written) == data
    path = tmp_path_factory.getbasetemp() / "dump.toml"
    path.write_bytes(written.encode())
    assert read_source(path).to_data() == data


def test_a_null_is_left_out_and_said() -> None:
    written = dump_toml({"a": {"b": None, "c": {"d": None, "e": 1}, "f": [{"g": None, "h": 2}]}})
    assert tomli.loads(written) == {"a": {"c": {"e": 1}, "f": [{"h": 2}]}}
    assert [line for line in written.splitlines() if line.startswith("#")] == [
        "# b is null, which TOML leaves out",
        "# c.d is null, which TOML leaves out",
        "# a.f[0].g is null, which TOML leaves out",
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"a": {"b": [1, None]}}, "`a.b[1]` is null, which a list of TOML cannot hold"),
        ({"a": {"b": {0: "x"}}}, "the key `0` in `a.b` is a number, which TOML cannot write"),
    ],
)
def test_what_toml_cannot_say_is_refused(data: dict[str, Any], said: str) -> None:
    with pytest.raises(NotTomlError) as raised:
        dump_toml(data)
    assert str(raised.value) == said
