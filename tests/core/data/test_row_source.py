import json

import pytest

from automodel_core.data.columns import optional_text_of, structure_of, text_of
from automodel_core.data.records import Row, iterate_rows
from automodel_core.data.row_report import RowReport
from automodel_core.data.row_source import RowSource
from automodel_core.errors import InputError


@pytest.fixture
def numbered(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps({"n": n}) for n in range(50)))
    return path


def numbers(rows):
    return [row.record["n"] for row in rows]


def test_the_rows_of_the_splits_are_disjoint_and_complete_and_counted(numbered):
    train, held_out = RowSource(str(numbered)).open(), RowSource(str(numbered), "validation").open()
    assert sorted(numbers(train) + numbers(held_out)) == list(range(50))
    assert (train.read, train.other_split) == (45, 5)
    assert numbers(train) == sorted(numbers(train))


def test_rows_with_something_in_common_stay_together(numbered):
    rows = RowSource(str(numbered), "validation", 0.2, sameness=lambda row: row.record["n"] % 10).open()
    assert {n % 10 for n in numbers(rows)} & {n % 10 for n in set(range(50)) - set(numbers(rows))} == set()


def test_a_limit_keeps_the_first_rows_of_the_split(numbered):
    whole = numbers(RowSource(str(numbered)).open())
    assert numbers(RowSource(str(numbered), limit=7).open()) == whole[:7]
    with pytest.raises(InputError, match="`limit` must be at least 1"):
        RowSource(str(numbered), limit=0).open()


def test_no_fraction_holds_nothing_out(numbered):
    assert len(numbers(RowSource(str(numbered), validation_fraction=0).open())) == 50
    with pytest.raises(InputError, match="`validation_fraction`"):
        RowSource(str(numbered), validation_fraction=1).open()


def test_the_fingerprint_changes_with_what_the_rows_depend_on(numbered, tmp_path):
    def fingerprint(path=numbered, **arguments):
        return RowSource(str(path), **arguments).open().fingerprint()

    known = [fingerprint(), fingerprint(split="validation"), fingerprint(split_seed=1), fingerprint(limit=3)]
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(numbered.read_bytes())
    assert fingerprint(copy) == known[0]
    copy.write_text(copy.read_text().replace('"n": 7', '"n": 8'))
    known.append(fingerprint(copy))
    assert all(known.count(each) == 1 for each in known)


def test_rows_of_several_files_follow_each_other_with_their_places(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.jsonl").write_text('\n{"x": 3}\n')
    rows = list(iterate_rows([tmp_path / "a.csv", tmp_path / "b.jsonl"]))
    assert [row.record for row in rows] == [{"x": "1", "y": "2"}, {"x": 3}]
    assert [row.place for row in rows] == [f"{tmp_path / 'a.csv'}, row 0", f"{tmp_path / 'b.jsonl'}:2"]


def test_a_csv_row_with_too_many_fields_is_named_and_a_long_field_is_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1," + "long " * 60_000 + "\n1,2,3\n")
    rows = iterate_rows([path])
    assert len(next(rows).record["y"]) == 300_000
    with pytest.raises(InputError, match=r"row 1` has 3 fields, and the header has 2"):
        next(rows)


def row(**record) -> Row:
    return Row("data.jsonl:3", record)


@pytest.mark.parametrize(
    ("read", "code", "says"),
    [
        (lambda: text_of(row(a="x"), "b"), "AM309", "no column `b`"),
        (lambda: text_of(row(a=None), "a"), "AM308", "`a` holds nothing"),
        (lambda: text_of(row(a=3), "a"), "AM308", "`a` holds int"),
        (lambda: text_of(row(a="\ud800"), "a"), "AM308", "lone surrogate"),
        (lambda: optional_text_of(row(a=[]), "a"), "AM308", "`a` holds list"),
        (lambda: structure_of(row(a="[1"), "a"), "AM308", "not JSON"),
    ],
)
def test_a_column_that_does_not_hold_what_it_must_is_named_with_its_row(read, code, says):
    with pytest.raises(InputError) as error:
        read()
    assert error.value.diagnostics[0].code == code
    assert says in str(error.value)
    assert "data.jsonl:3" in str(error.value)


def test_an_optional_column_may_be_missing_or_empty_and_a_structure_may_be_text():
    assert optional_text_of(row(a=None), "a") == optional_text_of(row(), "a") == optional_text_of(row(), None) == ""
    assert structure_of(row(a='[{"b": 1}]'), "a") == structure_of(row(a=[{"b": 1}]), "a") == [{"b": 1}]


def test_a_report_says_what_was_left_out_and_survives_json():
    report = RowReport("d", 10, 7, dropped={"without an answer": 2, "without text": 1})
    warning = report.warning()
    assert warning is not None
    assert "3 of 10 rows are left out: 2 without an answer, 1 without text" in warning.message
    assert RowReport.from_data(json.loads(json.dumps(report.to_data()))) == report
    assert RowReport("d", 10, 10).warning() is None
