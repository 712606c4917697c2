"""Beginnings with their right endings."""

import json

import pytest
from transformers import AutoTokenizer

from automodel_core.errors import InputError
from automodel_llm.data.hellaswag import HellaSwagDataset

ENDINGS = ["is old.", "is bright.", "is slow.", "is rare."]


def row(label, ctx="The river", endings=None):
    return {"ctx": ctx, "endings": ENDINGS if endings is None else endings, "label": label}


def learned(dataset, index, directory):
    tokenizer = AutoTokenizer.from_pretrained(directory)
    sample = dataset[index]
    whole = tokenizer.decode(list(sample.input_ids))
    return whole, tokenizer.decode([t for t in sample.labels if t != -100])


def test_the_right_ending_and_the_end_token_are_learned(json_lines, tokenizer_directory):
    path = json_lines(row("1"), row(3, "The poet"), row("", "The city"))
    dataset = HellaSwagDataset(str(tokenizer_directory), path, "all")
    assert learned(dataset, 0, tokenizer_directory) == ("The river is bright.</s>", " is bright.</s>")
    assert learned(dataset, 1, tokenizer_directory) == ("The poet is rare.</s>", " is rare.</s>")
    assert (len(dataset), dict(dataset.report.dropped)) == (2, {"without an answer": 1})


def test_endings_of_a_csv_cell_are_json(tmp_path, tokenizer_directory):
    cell = json.dumps(ENDINGS).replace('"', '""')
    (tmp_path / "rows.csv").write_text(f'ctx,endings,label\nThe river,"{cell}",2\n')
    dataset = HellaSwagDataset(str(tokenizer_directory), str(tmp_path / "rows.csv"), "all")
    assert learned(dataset, 0, tokenizer_directory)[1] == " is slow.</s>"


@pytest.mark.parametrize(
    ("wrong", "said"), [(row("4"), "index of one of 4"), (row("x"), "`x`"), (row("0", endings="no"), "not JSON")]
)
def test_a_row_that_is_none_is_refused(wrong, said, json_lines, tokenizer_directory):
    with pytest.raises(InputError, match=said) as raised:
        HellaSwagDataset(str(tokenizer_directory), json_lines(wrong), "all")
    assert [d.code for d in raised.value.diagnostics] == ["AM308"]
