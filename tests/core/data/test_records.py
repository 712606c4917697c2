import json

import pytest

from automodel_core.data.records import read_records
from automodel_core.errors import InputError

ROWS = [{"a": "x", "b": "1"}, {"a": "é", "b": "2"}]


def write(path, rows):
    if path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(r) for r in rows) + "\n\n", encoding="utf-8")
    elif path.suffix == ".csv":
        path.write_text("a,b\n" + "".join(f"{r['a']},{r['b']}\n" for r in rows), encoding="utf-8")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(rows), path)


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "parquet"])
def test_every_kind_of_file_gives_the_same_rows(tmp_path, suffix):
    path = tmp_path / f"data.{suffix}"
    write(path, ROWS)
    assert read_records(path) == ROWS


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("data.jsonl", b'{"a": 1}\n{"a": \n', "data.jsonl:2"),
        ("data.jsonl", b'{"a": 1}\n[1]\n', "data.jsonl:2"),
        ("data.jsonl", b"\n\n", "has no rows"),
        ("data.json", b'{"a": 1}', "not a list"),
        ("data.json", b"[1]", "row 0"),
        ("data.json", b"[", "is not JSON"),
        ("data.jsonl", b'{"a": "\xff"}', "not UTF-8"),
        ("data.parquet", b"PAR0nothing", "not a Parquet file"),
        ("data.txt", b"hello", "not a kind of data file"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_records(path)
    assert says in str(error.value)
    assert name in str(error.value)


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "parquet"])
def test_a_missing_file_is_named(tmp_path, suffix):
    with pytest.raises(InputError, match=r"absent.*cannot be read"):
        read_records(tmp_path / f"absent.{suffix}")


def test_a_number_too_long_to_read_is_named_with_its_line(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n{"a": ' + "9" * 5000 + "}\n")
    with pytest.raises(InputError, match=r"rows\.jsonl:2. cannot be read"):
        read_records(tmp_path / "rows.jsonl")


def test_what_is_wrong_with_a_line_is_said_once(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": "\x01"}\n')
    with pytest.raises(InputError, match="Invalid control character at column 8") as error:
        read_records(tmp_path / "rows.jsonl")
    assert error.value.diagnostics[0].helps == ("mend the line, or remove it: each line is one JSON object",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,a\n1,2\n", "has the column `a` twice"),
        ("a;b\n1;2\n", "has `;` between its fields, where CSV has commas"),
        ("a\tb\n1\t2\n", "has tabs between its fields"),
        ('a,b\n"1,2\n3,4\n', "is not CSV"),
        ('a,b\n"1"x,2\n', "is not CSV"),
    ],
)
def test_a_table_that_would_be_misread_is_refused(tmp_path, text, says):
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(InputError, match=says) as error:
        read_records(tmp_path / "rows.csv")
    assert error.value.diagnostics[0].code == "AM304"
