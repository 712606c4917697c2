import pytest

from automodel_core.data.records import Row
from automodel_core.errors import InputError
from automodel_llm.data.chat.reading import messages_of, tools_of

PLAIN = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]


def read(value):
    return messages_of(Row("d.jsonl:3", {"messages": value}), "messages")


@pytest.mark.parametrize(
    "value",
    [
        PLAIN,
        '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]',
        [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}],
        [{"role": "user", "content": [{"type": "text", "text": "a"}]}, {**PLAIN[1], "tool_calls": None}],
    ],
)
def test_every_form_of_messages_is_read(value):
    assert read(value) == PLAIN


def test_other_keys_reach_the_template():
    assert read([{**PLAIN[0], "name": "Ada"}]) == [{**PLAIN[0], "name": "Ada"}]


@pytest.mark.parametrize(
    ("value", "code", "says"),
    [
        ("no json", "AM308", "not JSON"),
        ({"role": "user"}, "AM308", "not a list of messages"),
        (None, "AM308", "holds nothing"),
        (["a"], "AM312", "message 0 of column `messages` is str"),
        ([*PLAIN, {"content": "a"}], "AM312", "message 2 of column `messages` has no `role`"),
        ([{"role": "user"}], "AM312", "has no `content`"),
        ([{"role": "user", "content": 3}], "AM312", "of kind int"),
        ([{"role": "user", "content": [{"type": "image"}]}], "AM312", "a part that is not text"),
        ([{"role": "user", "content": "\udc00"}], "AM308", "lone surrogate"),
    ],
)
def test_what_is_no_message_is_named_with_its_row(value, code, says):
    with pytest.raises(InputError) as error:
        read(value)
    assert error.value.diagnostics[0].code == code
    assert says in str(error.value)
    assert "d.jsonl:3" in str(error.value)


def test_tools_are_a_list_or_nothing():
    assert tools_of(Row("d", {"tools": '[{"name": "t"}]'}), "tools") == [{"name": "t"}]
    assert tools_of(Row("d", {}), "tools") == tools_of(Row("d", {"tools": None}), "tools") == []
    with pytest.raises(InputError, match="not a list of tools"):
        tools_of(Row("d", {"tools": 3}), "tools")
