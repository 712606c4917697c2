"""Conversations that are too long lose what is learned last of all."""

import pytest

from automodel_core.errors import InputError
from automodel_llm.data.chat.fitting import Piece
from automodel_llm.data.chat_dataset import ChatDataset
from automodel_llm.data.instruction import InstructionDataset


def turn(role: str, content: str) -> dict:
    return {"role": role, "content": content}


LONG = [
    turn("system", "Short."),
    turn("user", "first question"),
    turn("assistant", "first answer"),
    turn("user", "second question"),
    turn("assistant", "second answer"),
    turn("user", "third question"),
    turn("assistant", "third answer"),
]


@pytest.fixture
def chat(chat_tokenizer, json_lines):
    def make(*conversations, template="CHATML", **arguments) -> ChatDataset:
        path = json_lines(*({"messages": c} for c in conversations))
        return ChatDataset(path, str(chat_tokenizer(template)), split="all", **arguments)

    return make


def learned(dataset, index=0) -> str:
    return dataset.tokenizer.decode([label for label in dataset[index].labels if label != -100])


def text(dataset, index=0) -> str:
    return dataset.tokenizer.decode(dataset[index].input_ids)


def test_the_oldest_exchange_goes_first_and_the_system_message_stays(chat):
    whole = len(chat(LONG)[0].input_ids)
    dataset = chat(LONG, max_seq_length=whole - 1)
    assert learned(dataset) == "second answer<|im_end|>third answer<|im_end|>"
    assert text(dataset).startswith("<|im_start|>system\nShort.<|im_end|>\n<|im_start|>user\nsecond question")
    assert dataset.report.truncated == 1


def test_a_question_loses_its_middle_before_an_answer_loses_its_end(chat):
    conversation = [turn("user", "begin " + "very " * 100 + "end"), turn("assistant", "the answer")]
    dataset = chat(conversation, max_seq_length=60)
    assert 50 < len(dataset[0].input_ids) <= 60
    assert learned(dataset) == "the answer<|im_end|>"
    question = text(dataset).split("<|im_start|>user\n")[1].split("<|im_end|>")[0]
    assert question.startswith("begin very")
    assert question.endswith("very end")


def test_an_answer_that_is_too_long_is_learned_as_far_as_it_goes(chat):
    answer = "word " * 100
    dataset = chat([turn("user", "question " * 20), turn("assistant", answer)], max_seq_length=40)
    assert len(dataset[0].input_ids) == 40
    assert len(learned(dataset)) > 10
    assert answer.startswith(learned(dataset))


def test_an_opening_of_the_assistant_goes_first(chat):
    opened = [turn("assistant", "word " * 100), turn("user", "a"), turn("assistant", "b")]
    dataset = chat(opened, max_seq_length=40)
    assert text(dataset).startswith("<|im_start|>user\na<|im_end|>")


def test_a_prompt_that_leaves_no_room_is_left_out_and_counted(chat, capsys):
    short = [turn("user", "a"), turn("assistant", "b")]
    hopeless = [turn("user", "a"), turn("assistant", "word " * 100), turn("assistant", "b")]
    dataset = chat(short, hopeless, [turn("user", "a")], max_seq_length=40, train_on="last_assistant")
    assert len(dataset) == 1
    assert dataset.report.dropped == {
        "with a prompt that leaves no room for an answer in `max_seq_length`": 1,
        "without anything that the assistant says": 1,
    }
    assert "2 of 3 rows are left out" in capsys.readouterr().err


def test_data_of_which_nothing_can_be_learned_is_an_error(chat):
    with pytest.raises(InputError) as error:
        chat([turn("user", "a")], [turn("assistant", "b")])
    assert error.value.diagnostics[0].code == "AM318"
    assert "2 without anything that the assistant says" in str(error.value)


@pytest.mark.parametrize("template", ["CHATML", "LLAMA_3", "MARKED", "DROPS_REASONING", "ENDLESS"])
@pytest.mark.parametrize("max_length", [24, 40, 56, 80])
def test_any_length_is_kept_to_and_leaves_something_to_learn(chat, template, max_length):
    reasoned = [
        turn(m["role"], f"<think>x</think>{m['content']}" if m["role"] == "assistant" else m["content"]) for m in LONG
    ]
    dataset = chat(reasoned[1:], template=template, max_seq_length=max_length)
    for index in range(len(dataset)):
        sample = dataset[index]
        assert len(sample.input_ids) == len(sample.labels) <= max_length
        assert any(label != -100 for label in sample.labels)
        assert "question" not in learned(dataset, index)


def test_an_instruction_loses_the_end_of_its_context_first(chat_tokenizer, json_lines):
    path = json_lines({"question": "How is the bird?", "answer": "rare", "context": "begin " + "very " * 100 + "end"})
    dataset = InstructionDataset(
        path, str(chat_tokenizer("CHATML")), {"context": "context"}, split="all", max_seq_length=60
    )
    assert learned(dataset) == "rare<|im_end|>"
    assert "\nbegin very" in text(dataset)
    assert "end\n\nHow" not in text(dataset)
    assert "\n\nHow is the bird?<|im_end|>" in text(dataset)
    assert 50 < len(dataset[0].input_ids) <= 60


def test_a_piece_is_cut_where_it_says():
    assert Piece("abcdefg", "end").shortened(3) == "abc"
    assert [Piece("abcdefg").shortened(n) for n in (0, 1, 4, 7)] == ["", "a", "abfg", "abcdefg"]
