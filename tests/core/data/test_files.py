from pathlib import Path

import pytest

from automodel_core.data.files import find_files, looks_like_a_hub_id
from automodel_core.data.records import RECORD_SUFFIXES
from automodel_core.errors import InputError


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Make empty files in a directory that is the working one."""
    monkeypatch.chdir(tmp_path)

    def make(*names: str) -> Path:
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
        return tmp_path

    return make


def found(path, split="train", fraction=None):
    files = find_files(path, split, RECORD_SUFFIXES, fraction)
    return [file.name for file in files.files], files.whole


def test_a_directory_is_split_by_the_names_of_its_files(place):
    place("d/train-00.jsonl", "d/train-01.jsonl", "d/dev_v1.json", "d/test.csv", "d/README.md", "d/info.json")
    assert found("d") == (["train-00.jsonl", "train-01.jsonl"], True)
    assert found("d", "validation") == (["dev_v1.json"], True)
    assert found("d", "test") == (["test.csv"], True)


def test_files_whose_names_say_nothing_are_split_by_rows(place):
    place("d/a.jsonl", "d/b.jsonl", "one.csv", "trainer.jsonl", "values.jsonl")
    assert found("d") == found("d", "validation") == (["a.jsonl", "b.jsonl"], False)
    assert found("one.csv", "validation") == (["one.csv"], False)
    assert found(["trainer.jsonl", "values.jsonl"]) == (["trainer.jsonl", "values.jsonl"], False)
    assert found("d", "all") == (["a.jsonl", "b.jsonl"], True)


def test_a_single_file_that_says_its_split_is_that_split(place):
    place("train.jsonl", "validation.jsonl")
    assert found("train.jsonl") == (["train.jsonl"], True)
    assert found("validation.jsonl", "validation") == (["validation.jsonl"], True)
    with pytest.raises(InputError, match="no file for split `validation`") as error:
        found("train.jsonl", "validation")
    assert any("validation_fraction" in h for h in error.value.diagnostics[0].helps)


def test_a_fraction_is_held_out_of_the_training_file_when_asked_for(place):
    place("d/train.jsonl", "d/validation.jsonl")
    assert found("d/train.jsonl", "validation", 0.2) == (["train.jsonl"], False)
    assert found("d", "train", 0.2) == found("d", "validation", 0.2) == (["train.jsonl"], False)


def test_patterns_and_lists_name_files(place):
    place("a/x-1.jsonl", "b/x-2.jsonl", "b/y.jsonl")
    assert found("*/x-*.jsonl") == (["x-1.jsonl", "x-2.jsonl"], False)
    assert found(["b/y.jsonl", "a", "b/y.jsonl"]) == (["y.jsonl", "x-1.jsonl"], False)


@pytest.mark.parametrize(
    ("path", "split", "code"),
    [
        ("absent.jsonl", "train", "AM301"),
        ("*.absent", "train", "AM301"),
        ("empty", "train", "AM303"),
        ([], "train", "AM303"),
        ("d", "valid", "AM307"),
        ("d", "test", "AM307"),
    ],
)
def test_what_is_not_there_is_said(place, path, split, code):
    place("d/train.jsonl", "empty/README.md")
    with pytest.raises(InputError) as error:
        found(path, split)
    assert error.value.diagnostics[0].code == code


def test_a_hub_id_is_told_from_a_path(place):
    place("owner/name")
    assert looks_like_a_hub_id("rajpurkar/squad")
    for path in ("owner/name", "./a/b", "a/b.jsonl", "a/*", "a", "a/b/c", ["rajpurkar/squad"]):
        assert not looks_like_a_hub_id(path)


def test_a_missing_file_is_told_from_its_neighbours(tmp_path):
    (tmp_path / "train.jsonl").write_text("")
    with pytest.raises(InputError, match="does not exist") as error:
        found(str(tmp_path / "trian.jsonl"))
    assert error.value.diagnostics[0].helps == ("did you mean `train.jsonl`?",)
    with pytest.raises(InputError) as error:
        found(str(tmp_path / "nowhere/train.jsonl"))
    assert "there is no directory" in error.value.diagnostics[0].helps[0]


def test_an_empty_path_is_not_the_current_directory():
    with pytest.raises(InputError, match="`path` is empty"):
        found("")


def test_files_that_name_no_split_have_no_test_split(place):
    place("d/a.jsonl")
    with pytest.raises(InputError) as error:
        found("d", "test")
    assert error.value.diagnostics[0].code == "AM307"
