"""Sources: places of keys and values, anchors, TOML, Python mappings, and input that must not hurt."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from automodel_core.config.nodes import MappingNode, ScalarNode
from automodel_core.config.source import load_yaml, read_source, read_yaml_text
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError


def refused(text: str | bytes, tmp_path: Path, name: str = "cfg.yaml") -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a source that cannot be read."""
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InputError) as raised:
        read_source(path)
    return raised.value.diagnostics


def test_every_key_and_value_knows_its_line_and_column() -> None:
    root = read_yaml_text("optimizer:\n  lr: 1e-5\n  betas: [0.9, 'x y']\n", "cfg.yaml")
    entry = root.entry_at("optimizer.lr")
    assert entry is not None
    assert str(entry.key_span) == "cfg.yaml:2:3"
    assert str(entry.node.span) == "cfg.yaml:2:7"
    quoted = root.at("optimizer.betas[1]")
    assert isinstance(quoted, ScalarNode)
    assert quoted.quoted
    assert quoted.span.text[quoted.span.column - 1 : quoted.span.end_column - 1] == "'x y'"


def test_paths_take_both_spellings_of_an_index() -> None:
    root = read_yaml_text("a: {b: [{c: 1}, {c: 2}]}")
    assert root.at("a.b[1].c").to_data() == 2  # type: ignore[union-attr]
    assert root.at("a.b.1.c").to_data() == 2  # type: ignore[union-attr]
    assert root.at("a.b[-1].c").to_data() == 2  # type: ignore[union-attr]
    assert root.at("a.b[2].c") is None
    assert root.at("a.x") is None


def test_a_carriage_return_and_a_byte_order_mark_do_not_move_places(tmp_path: Path) -> None:
    path = tmp_path / "cfg.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    root = read_source(path)
    assert root.to_data() == {"a": 1, "b": 2}
    assert root.at("b").span.line == 2  # type: ignore[union-attr]


def test_anchors_keep_the_place_where_they_were_written() -> None:
    root = read_yaml_text("x-base: &base {lr: 1, wd: 2}\noptimizer:\n  <<: *base\n  lr: 3\n")
    assert root.at("optimizer").to_data() == {"wd": 2, "lr": 3}  # type: ignore[union-attr]
    assert root.at("optimizer.wd").span.line == 1  # type: ignore[union-attr]
    assert root.at("optimizer.lr").span.line == 4  # type: ignore[union-attr]


def test_the_first_of_several_merged_mappings_wins() -> None:
    assert load_yaml("a: &a {k: 1}\nb: &b {k: 2, m: 3}\nc: {<<: [*a, *b]}")["c"] == {"k": 1, "m": 3}


def test_core_tags_convert_and_block_text_stays_text() -> None:
    assert load_yaml("a: !!str 5\nb: !!float 1\nc: |\n  12\nd: !!int '7'\n") == {
        "a": "5",
        "b": 1.0,
        "c": "12\n",
        "d": 7,
    }


def test_a_duplicate_key_names_both_places(tmp_path: Path) -> None:
    (found,) = refused("a:\n  b: 1\n  c: 2\n  b: 3\n", tmp_path)
    assert (found.code, found.span.line, found.span.column) == ("AM103", 4, 3)  # type: ignore[union-attr]
    assert "cfg.yaml:2:3" in found.label


def test_all_duplicates_and_tags_are_reported_at_once(tmp_path: Path) -> None:
    found = refused("a: 1\na: 2\nb: !!python/object:os.system x\nc: 1\nc: 2\n", tmp_path)
    assert [d.code for d in found] == ["AM103", "AM106", "AM103"]


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: [1, 2\nb: 3\n", "AM102", 1, 4),
        ("a: 'x\n", "AM102", 1, 4),
        ("a: b: c\n", "AM102", 1, 5),
        ("a:\n\t- b\n", "AM102", 2, 1),
        ("a: *_proj\n", "AM102", 1, 4),
        ("a: 1\n---\nb: 2\n", "AM102", 2, 1),
        ("", "AM104", 1, 1),
        ("# nothing\n", "AM104", 1, 1),
        ("- a\n", "AM104", 1, 1),
        ("just text", "AM104", 1, 1),
        ("a: b\0c", "AM101", 1, 5),
        ("a: 1\nb: \x1b[31m\n", "AM101", 2, 4),
        (b"a: 1\nb: \xff\xfe\n", "AM101", 2, 4),
        (b"\xff\xfea\x00:\x00", "AM101", 1, 1),
        ("a: &a [1, *a]\n", "AM105", 1, 11),
        ("a: &a {b: *a}\n", "AM105", 1, 11),
        ("a: " + "{b: " * 100 + "1" + "}" * 100, "AM105", 1, 256),
        ("a: " + "9" * 2000, "AM105", 1, 4),
        ("? [a, b]\n: 1\n", "AM106", 1, 3),
        ("null: 1\n", "AM106", 1, 1),
        ("true: 1\n", "AM106", 1, 1),
        ("a: {<<: 3}\n", "AM106", 1, 5),
        ("a: !include x.yaml\n", "AM106", 1, 4),
    ],
)
def test_a_source_that_cannot_be_read_says_where(
    text: str | bytes, code: str, line: int, column: int, tmp_path: Path
) -> None:
    found = refused(text, tmp_path)[0]
    assert found.span is not None
    assert (found.code, found.span.line, found.span.column) == (code, line, column)


def test_aliases_that_multiply_are_refused_quickly(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert refused("\n".join(lines), tmp_path)[0].code == "AM105"


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 50_000, "- " * 50_000, "? " * 50_000, "a: &x " * 20_000])
def test_deep_nesting_is_an_input_error_and_not_a_crash(text: str, tmp_path: Path) -> None:
    assert refused(text, tmp_path)[0].code in ("AM102", "AM105")


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    assert refused(b"a: 1\n" * 1_000_000, tmp_path)[0].code == "AM105"


def test_reading_stops_after_a_hundred_problems(tmp_path: Path) -> None:
    assert len(refused("a: 1\n" * 5000, tmp_path)) == 100


def test_a_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text("a: 1")
    with pytest.raises(InputError) as raised:
        read_source(tmp_path / "trian.yaml")
    (found,) = raised.value.diagnostics
    assert found.code == "AM100"
    assert found.helps == ("did you mean `train.yaml`?",)


def test_a_missing_directory_a_directory_and_a_bad_name_are_input_errors(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1")
    for source in (tmp_path / "no" / "cfg.yaml", tmp_path, "a\0b.yaml"):
        with pytest.raises(InputError) as raised:
            read_source(source)
        assert raised.value.diagnostics[0].code == "AM100"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "cfg.yaml"
    path.write_text("a: 1")
    path.chmod(0)
    with pytest.raises(InputError):
        read_source(path)


TOML = """\
recipe = "x"
[step_scheduler]
max_steps = 10  # steps
[optimizer]
"_target_" = "torch.optim.AdamW"
betas = [0.9,
         0.95]
inner.deep = 1
[[dataset.files]]
name = "a"
[[dataset.files]]
name = "b"
[dataset.files.extra]
k = true
"""


def test_toml_gives_the_same_data_with_the_place_of_each_key(tmp_path: Path) -> None:
    path = tmp_path / "cfg.toml"
    path.write_text(TOML)
    root = read_source(path)
    assert root.to_data()["optimizer"] == {
        "_target_": "torch.optim.AdamW",
        "betas": [0.9, 0.95],
        "inner": {"deep": 1},
    }
    written = {
        "recipe": ("1:10", '"x"'),
        "step_scheduler": ("2:2", "step_scheduler"),
        "step_scheduler.max_steps": ("3:13", "10"),
        "optimizer._target_": ("5:14", '"torch.optim.AdamW"'),
        "optimizer.betas": ("6:9", "[0.9,"),
        "optimizer.betas[1]": ("7:10", "0.95"),
        "optimizer.inner": ("8:1", "inner"),
        "optimizer.inner.deep": ("8:14", "1"),
        "dataset.files[0]": ("9:11", "files"),
        "dataset.files[0].name": ("10:8", '"a"'),
        "dataset.files[1].name": ("12:8", '"b"'),
        "dataset.files[1].extra": ("13:16", "extra"),
        "dataset.files[1].extra.k": ("14:5", "true"),
    }
    assert {path: place(root.at(path).span) for path in written} == written  # type: ignore[union-attr]
    keys = {
        "step_scheduler.max_steps": ("3:1", "max_steps"),
        "optimizer._target_": ("5:1", '"_target_"'),
        "optimizer.inner.deep": ("8:7", "deep"),
        "dataset.files[1].extra": ("13:16", "extra"),
    }
    assert {path: place(root.entry_at(path).key_span) for path in keys} == keys  # type: ignore[union-attr]


def place(span: Span) -> tuple[str, str]:
    return f"{span.line}:{span.column}", span.text[span.column - 1 : span.end_column - 1]


@pytest.mark.parametrize(
    ("text", "line", "column", "first", "message"),
    [
        ("a = 1\na = 2\n", 2, 1, "1:1", "the key `a` is written twice"),
        ("[a]\nb.c = 1\n[a]\n", 3, 2, "1:2", "the key `a` is written twice"),
        ("x = {a = 1, b = 2, a = {c = 3}}\n", 1, 20, "1:6", "the key `x.a` is written twice"),
        ("a = 1\r\na.b = 2\r\n", 2, 3, "1:1", "`a.b` cannot be added: `a` has its value already"),
        ("[[a]]\nb = 1\n[[a]]\nb = 1\nb = 2\n", 5, 1, "4:1", "the key `a[1].b` is written twice"),
        ('"a\\u0062" = 1\nab = """\n"""\n', 2, 1, "1:1", "the key `ab` is written twice"),
    ],
)
def test_a_duplicate_key_of_toml_names_both_places(
    text: str, line: int, column: int, first: str, message: str, tmp_path: Path
) -> None:
    (found,) = refused(text, tmp_path, "cfg.toml")
    assert found.span is not None
    assert (found.code, found.span.line, found.span.column, found.message) == ("AM103", line, column, message)
    assert found.label.endswith(f"cfg.toml:{first}")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a = " + "9" * 5_000, "AM105"),
        ("a = 0x" + "f" * 2**20, "AM105"),
        ("a" + ".a" * 2**19 + " = 1", "AM105"),
        ("\n".join(f"k{n}." + ".".join("a" * 60) + " = 1" for n in range(20_000)), "AM105"),
        ("[[a]]\n" * 2**17, "AM105"),
        ('a = """' + '"' * 2**20, "AM102"),
        ('a = "' + "\\" * 2**20, "AM102"),
        ("a = [" + "#\n" * 2**19, "AM102"),
        ("é" * 2**20, "AM102"),
    ],
    ids=["digits", "hexadecimal", "deep key", "deep keys", "items", "quotes", "backslashes", "comments", "garbage"],
)
def test_large_toml_is_refused_at_once(text: str, code: str, tmp_path: Path) -> None:
    started = time.monotonic()
    assert refused(text, tmp_path, "cfg.toml")[0].code == code
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a = \n", "AM102", 1),
        ("a = 1\na = 2\n", "AM103", 2),
        ("[a]\nb = 2024-01-01\n", "AM106", 2),
        ("a = " + "[" * 500 + "]" * 500, "AM105", 1),
        ("a = " + "[" * 50_000, "AM105", None),
        ("x = '", "AM102", 1),
    ],
)
def test_bad_toml_is_an_input_error(text: str, code: str, line: int | None, tmp_path: Path) -> None:
    found = refused(text, tmp_path, "cfg.toml")[0]
    assert found.code == code
    if line is not None:
        assert found.span is not None
        assert found.span.line == line


def test_a_python_mapping_is_a_source() -> None:
    root = read_source({"optimizer": {"lr": 1e-5, "betas": (0.9, 0.95)}, "data": {"path": Path("a/b")}})
    assert isinstance(root, MappingNode)
    assert root.to_data() == {"optimizer": {"lr": 1e-5, "betas": [0.9, 0.95]}, "data": {"path": "a/b"}}
    span = root.at("optimizer.lr").span  # type: ignore[union-attr]
    assert (span.source, span.text) == ("<python>", "optimizer.lr = 1e-05")
    assert span.text[span.column - 1 : span.end_column - 1] == "1e-05"


def test_a_python_mapping_with_objects_or_odd_keys_is_refused_with_all_of_them() -> None:
    with pytest.raises(InputError) as raised:
        read_source({"a": {"b": object(), None: 1, 2: "fine"}, "c": {1.5}})
    assert [d.code for d in raised.value.diagnostics] == ["AM106"] * 3


def test_a_python_mapping_that_contains_itself_is_refused() -> None:
    loop: dict[str, object] = {}
    loop["a"] = loop
    with pytest.raises(InputError) as raised:
        read_source(loop)
    assert raised.value.diagnostics[0].code == "AM105"
