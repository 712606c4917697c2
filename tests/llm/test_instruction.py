"""Questions and answers from columns."""

import json

import pytest

from automodel_core.errors import InputError
from automodel_llm.data.instruction import InstructionDataset

ROWS = [
    {
        "question": "How is the bird?",
        "answer": "Rare, costs $PRICE ${X}.",
        "context": "A {question} bird.",
        "who": "Be brief.",
    },
    {"question": "And the city?", "answer": "Old.", "context": None, "who": ""},
]
COLUMNS = {"context": "context", "system": "who"}


@pytest.fixture
def instructions(json_lines, chat_tokenizer, tokenizer_directory):
    def make(*rows, template="CHATML", path=None, **arguments):
        tokenizer = tokenizer_directory if template is None else chat_tokenizer(template)
        path = json_lines(*(rows or ROWS)) if path is None else str(path)
        arguments = {"column_mapping": COLUMNS, "split": "all", **arguments}
        return InstructionDataset(path, str(tokenizer), **arguments)

    return make


def text(dataset, index):
    return dataset.tokenizer.decode(dataset[index].input_ids)


def learned(dataset, index):
    return dataset.tokenizer.decode([label for label in dataset[index].labels if label != -100])


def test_a_row_is_a_conversation_of_one_exchange(instructions):
    dataset = instructions()
    assert text(dataset, 0) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nA {question} bird.\n\nHow is the bird?<|im_end|>\n"
        "<|im_start|>assistant\nRare, costs $PRICE ${X}.<|im_end|>"
    )
    assert text(dataset, 1) == ("<|im_start|>user\nAnd the city?<|im_end|>\n<|im_start|>assistant\nOld.<|im_end|>")
    assert [learned(dataset, i) for i in (0, 1)] == ["Rare, costs $PRICE ${X}.<|im_end|>", "Old.<|im_end|>"]


@pytest.mark.parametrize(("template", "use"), [(None, "auto"), ("CHATML", False)])
def test_without_a_template_a_row_is_the_prompt_the_answer_and_the_end(instructions, template, use):
    dataset = instructions(template=template, use_chat_template=use)
    assert text(dataset, 0) == "Be brief.\n\nA {question} bird.\n\nHow is the bird?\nRare, costs $PRICE ${X}.</s>"
    assert text(dataset, 1) == "And the city?\nOld.</s>"
    assert learned(dataset, 1) == "Old.</s>"


def test_a_format_writes_the_prompt(instructions):
    form = "Read: {context}\nAsk: {question}\nAnswer:"
    plain = instructions(prompt_format=form, use_chat_template=False)
    assert (
        text(plain, 0)
        == "Be brief.\n\nRead: A {question} bird.\nAsk: How is the bird?\nAnswer: Rare, costs $PRICE ${X}.</s>"
    )
    assert learned(plain, 1) == " Old.</s>"
    chat = instructions(prompt_format=form)
    assert "user\nRead: A {question} bird.\nAsk: How is the bird?\nAnswer:<|im_end|>" in text(chat, 0)


def test_rows_without_an_answer_are_left_out_and_counted(instructions):
    dataset = instructions(*ROWS, {**ROWS[0], "answer": " "}, {**ROWS[0], "answer": None})
    assert len(dataset) == 2
    assert dataset.report.dropped == {"without an answer": 2}


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_every_kind_of_file_gives_the_same_samples(instructions, tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    if suffix == "json":
        path.write_text(json.dumps(ROWS))
    elif suffix == "csv":
        quoted = [[row[k] or "" for k in ROWS[0]] for row in ROWS]
        path.write_text("\n".join([",".join(ROWS[0]), *(",".join(f'"{v}"' for v in row) for row in quoted)]))
    else:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    expected, found = instructions(), instructions(path=path)
    assert [found[i] for i in range(len(found))] == [expected[i] for i in range(2)]


def test_other_names_of_the_columns_are_known(instructions):
    rows = [{"instruction": "Say", "input": "x", "output": "y"}]
    mapping = {"instruction": "instruction", "input": "input", "output": "output"}
    assert "user\nx\n\nSay<|im_end|>" in text(instructions(*rows, column_mapping=mapping), 0)


@pytest.mark.parametrize(
    ("row", "asked"),
    [
        ({"instruction": "Say", "input": "x", "output": "y"}, "x\n\nSay"),
        ({"prompt": "Say", "completion": "y"}, "Say"),
        ({"prompt": "Say", "response": "y"}, "Say"),
        ({"query": "Say", "answer": "y"}, "Say"),
    ],
)
def test_columns_of_the_usual_names_need_no_mapping(instructions, row, asked):
    """The form of Alpaca and its relatives."""
    dataset = instructions(row, column_mapping=None)
    assert f"user\n{asked}<|im_end|>" in text(dataset, 0)
    assert learned(dataset, 0) == "y<|im_end|>"


def test_a_column_that_only_later_rows_have_is_read_and_null_leaves_it_out(instructions):
    rows = [{"instruction": "A", "output": "b"}, {"instruction": "C", "input": "more", "output": "d"}]
    assert "user\nmore\n\nC<|im_end|>" in text(instructions(*rows, column_mapping=None), 1)
    assert "user\nC<|im_end|>" in text(instructions(*rows, column_mapping={"context": None}), 1)


def test_a_format_without_a_context_that_nobody_mapped_does_without_it(instructions):
    row = {"instruction": "Say", "input": "x", "output": "y"}
    dataset = instructions(row, column_mapping=None, prompt_format="Q: {question}")
    assert "user\nQ: Say<|im_end|>" in text(dataset, 0)


def test_columns_of_no_known_name_are_asked_for(instructions):
    with pytest.raises(InputError, match="no column is known to hold the answer") as error:
        instructions({"question": "a", "reply": "b"}, column_mapping=None)
    assert error.value.diagnostics[0].helps[0] == "say which it is in `column_mapping.answer`"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ({"column_mapping": {"qestion": "q"}}, "AM311", "`qestion`"),
        ({"column_mapping": {"prompt": "q", "question": "q"}}, "AM311", "twice"),
        ({"column_mapping": {"question": "q"}}, "AM309", "no column `q`"),
        ({"column_mapping": {"answer": "a"}}, "AM309", "no column `a`"),
        ({"prompt_format": "{context}"}, "AM306", "`{question}`"),
        ({"prompt_format": "{question}"}, "AM306", "`{context}`"),
        ({"prompt_format": "{question} {context} {contxt}"}, "AM306", "`{contxt}`, which stands for nothing"),
        ({"use_chat_template": "yes"}, "AM306", "`use_chat_template`"),
        ({"use_chat_template": True, "template": None}, "AM313", "no chat template"),
        ({"chat_template": "absent.jinja"}, "AM313", "absent.jinja"),
        ({"max_seq_length": 1}, "AM306", "`max_seq_length`"),
        ({"split": "dev"}, "AM307", "`dev`"),
    ],
)
def test_what_is_wrong_is_said(instructions, arguments, code, says):
    with pytest.raises(InputError) as error:
        instructions(**arguments)
    assert error.value.diagnostics[0].code == code
    assert says in str(error.value)


def test_a_template_may_be_a_file(instructions, tmp_path):
    template = tmp_path / "own.jinja"
    template.write_text(
        "{% for m in messages %}{{ m['role'] }}>{{ m['content'] }}{{ eos_token }}{% endfor %}"
        "{% if add_generation_prompt %}assistant>{% endif %}"
    )
    dataset = instructions(template=None, chat_template=str(template))
    assert text(dataset, 1) == "user>And the city?</s>assistant>Old.</s>"
    assert learned(dataset, 1) == "Old.</s>"
