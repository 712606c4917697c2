"""What is learned of a conversation: the assistant's text and the end of its turn, to the character, and no more."""

import json

import chat_templates
import pytest

from automodel_core.cache import asset_directory
from automodel_core.errors import InputError
from automodel_llm.data.chat_dataset import ChatDataset
from automodel_llm.data.collate import PaddedCollate

SMOLLM2 = asset_directory("smollm2-135m-instruct")

MESSAGES = [
    {"role": "user", "content": "How is the river?"},
    {"role": "assistant", "content": "The river is slow."},
    {"role": "user", "content": "And the\n\nbird? Costs $PRICE ${X}."},
    {"role": "assistant", "content": "It is rare, and\n\nbright: é, 漢字, 🙂!"},
]
SYSTEM = {"role": "system", "content": "You speak of birds."}

ALL_IN_ONE = ("CHATML", "LLAMA_3", "MISTRAL", "GEMMA", "MARKED", "NAMED")


@pytest.fixture
def chat(chat_tokenizer, tmp_path):
    """Return a data set of conversations with the tokenizer of a template."""

    def make(template: str, *conversations, **arguments) -> ChatDataset:
        path = tmp_path / "chat.jsonl"
        path.write_text("\n".join(json.dumps({"messages": c}) for c in conversations), encoding="utf-8")
        arguments = {"split": "all", "cache": False, **arguments}
        return ChatDataset(str(path), str(chat_tokenizer(template)), **arguments)

    return make


def learned(dataset: ChatDataset, index: int = 0) -> str:
    return dataset.tokenizer.decode([label for label in dataset[index].labels if label != -100])


def said(messages, end: str) -> str:
    return "".join(m["content"] + end for m in messages if m["role"] == "assistant")


def check_labels(dataset: ChatDataset) -> None:
    """Every label is the token that follows, and the last of every run of them ends a turn."""
    for index in range(len(dataset)):
        sample = dataset[index]
        for t, label in enumerate(sample.labels):
            if label != -100:
                assert label == sample.input_ids[t + 1]
        ends = [
            label
            for label, following in zip(sample.labels, [*sample.labels[1:], -100], strict=True)
            if label != -100 and following == -100
        ]
        assert ends
        assert {dataset.tokenizer.decode([token]) for token in ends} == {end_of(dataset)}


def end_of(dataset: ChatDataset) -> str:
    templates = [value for value in vars(chat_templates).values() if isinstance(value, chat_templates.Template)]
    return next(t.end for t in templates if t.text == dataset.tokenizer.chat_template)


@pytest.mark.parametrize("template", ALL_IN_ONE)
def test_what_is_learned_is_every_answer_and_its_end(chat, template):
    dataset = chat(template, MESSAGES)
    space = " " if template == "NAMED" else ""
    expected = [space + m["content"] + end_of(dataset) for m in MESSAGES if m["role"] == "assistant"]
    assert learned(dataset) == "".join(expected)
    check_labels(dataset)


def test_six_tokens_by_hand(chat):
    """The newline before the answer predicts its only token, and that predicts the end of the turn."""
    dataset = chat("CHATML", [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    sample = dataset[0]
    pieces = [dataset.tokenizer.decode([i]) for i in sample.input_ids]
    assert pieces[-3:] == ["\n", "b", "<|im_end|>"]
    assert sample.labels[-3:] == [*sample.input_ids[-2:], -100]
    assert set(sample.labels[:-3]) == {-100}


@pytest.mark.parametrize("template", ["CHATML", "LLAMA_3", "GEMMA", "MARKED"])
def test_a_system_message_is_context(chat, template):
    dataset = chat(template, [SYSTEM, *MESSAGES])
    assert learned(dataset) == said(MESSAGES, end_of(dataset))
    assert SYSTEM["content"] in dataset.tokenizer.decode(dataset[0].input_ids)


@pytest.mark.parametrize("template", [*ALL_IN_ONE, "DROPS_REASONING"])
def test_the_last_answer_alone_can_be_learned(chat, template):
    dataset = chat(template, MESSAGES, train_on="last_assistant")
    assert len(dataset) == 1
    assert learned(dataset).lstrip(" ") == MESSAGES[-1]["content"] + end_of(dataset)


@pytest.mark.parametrize("template", ALL_IN_ONE)
@pytest.mark.parametrize("content", ["\n\nleads", " spaces ", "\ttab", "ends\n", "<|im_start|>", "a</s>b"])
def test_white_space_and_markers_in_an_answer_do_not_move_the_mask(chat, template, content):
    """Tokens that would reach over the edge of an answer are encoded apart, as a model that is used sees them."""
    dataset = chat(template, [MESSAGES[0], {"role": "assistant", "content": content}, *MESSAGES[2:]])
    trimmed = template in ("LLAMA_3", "GEMMA")
    first = learned(dataset)[: -len(MESSAGES[-1]["content"] + end_of(dataset))]
    assert first.strip(" ") == ((content.strip() if trimmed else content) + end_of(dataset)).strip(" ")
    assert "river" not in learned(dataset)


@pytest.mark.parametrize("template", ALL_IN_ONE)
def test_a_sample_begins_with_the_prompt_that_a_model_in_use_is_given(chat, template):
    dataset = chat(template, MESSAGES[:2])
    prompt = dataset.tokenizer.apply_chat_template(MESSAGES[:1], add_generation_prompt=True, return_dict=False)
    assert dataset[0].input_ids[: len(prompt)] == prompt


def test_the_marks_of_a_template_agree_with_the_mask_of_transformers(chat):
    """Ours has the end of the turn in addition, which the marks of the template leave out."""
    dataset = chat("MARKED", MESSAGES)
    theirs = dataset.tokenizer.apply_chat_template(
        MESSAGES, return_dict=True, tokenize=True, return_assistant_tokens_mask=True
    )
    length = len(dataset[0].input_ids)
    assert theirs["input_ids"][:length] == dataset[0].input_ids
    ours = [0, *(label != -100 for label in dataset[0].labels[:-1])]
    end = dataset.tokenizer.convert_tokens_to_ids("<|im_end|>")
    without_ends = [int(flag and token != end) for flag, token in zip(ours, dataset[0].input_ids, strict=True)]
    assert without_ends == theirs["assistant_masks"][:length]


def test_a_template_that_drops_reasoning_gives_a_sample_for_each_answer(chat):
    reasoned = [
        MESSAGES[0],
        {"role": "assistant", "content": "<think>slow?</think>The river is slow."},
        MESSAGES[2],
        {"role": "assistant", "content": "<think>rare?</think>It is rare."},
    ]
    dataset = chat("DROPS_REASONING", reasoned)
    assert [learned(dataset, i) for i in range(len(dataset))] == [
        "<think>slow?</think>The river is slow.<|im_end|>",
        "<think>rare?</think>It is rare.<|im_end|>",
    ]
    second = dataset.tokenizer.decode(dataset[1].input_ids)
    assert "slow?" not in second
    assert "The river is slow." in second
    check_labels(dataset)


def test_a_template_that_rewrites_everything_is_refused(chat):
    with pytest.raises(InputError) as error:
        chat("REWRITES", MESSAGES)
    assert error.value.diagnostics[0].code == "AM315"
    assert "chat.jsonl:1" in str(error.value)
    assert any("{% generation %}" in h for h in error.value.diagnostics[0].helps)


def test_a_template_without_ends_gets_the_end_token_behind_every_answer(chat):
    dataset = chat("ENDLESS", MESSAGES)
    assert [learned(dataset, i) for i in range(len(dataset))] == [
        m["content"] + "</s>" for m in MESSAGES if m["role"] == "assistant"
    ]
    check_labels(dataset)


def test_a_turn_that_cannot_be_ended_is_refused(chat, chat_tokenizer, tmp_path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(chat_tokenizer("ENDLESS"))
    tokenizer.eos_token = None
    tokenizer.save_pretrained(tmp_path / "endless")
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([{"messages": MESSAGES[:2]}]))
    with pytest.raises(InputError) as error:
        ChatDataset(str(path), str(tmp_path / "endless"), split="all", cache=False)
    assert error.value.diagnostics[0].code == "AM316"


def test_padding_with_the_end_token_leaves_the_end_of_an_answer_supervised(chat):
    dataset = chat("MISTRAL", MESSAGES, MESSAGES[:2])
    tokenizer = dataset.tokenizer
    assert tokenizer.pad_token_id == tokenizer.eos_token_id
    batch = PaddedCollate(tokenizer.pad_token_id)([dataset[0], dataset[1]])
    short = batch["labels"][1]
    assert int((short == tokenizer.eos_token_id).sum()) == 1
    padding = batch["attention_mask"][1] == 0
    assert bool((short[padding] == -100).all())


def test_an_opening_of_the_assistant_is_context(chat):
    greeting = {"role": "assistant", "content": "Hello!"}
    dataset = chat("CHATML", [SYSTEM, greeting, *MESSAGES])
    assert learned(dataset) == said(MESSAGES, "<|im_end|>")
    assert "Hello!" in dataset.tokenizer.decode(dataset[0].input_ids)


def test_what_follows_the_last_answer_is_left_out(chat):
    dataset = chat("CHATML", [*MESSAGES, {"role": "user", "content": "Thanks."}])
    assert dataset.tokenizer.decode(dataset[0].input_ids).endswith("🙂!<|im_end|>")


def test_a_template_s_refusal_names_the_row(chat):
    with pytest.raises(InputError) as error:
        chat("MISTRAL", MESSAGES, [SYSTEM, *MESSAGES])
    assert error.value.diagnostics[0].code == "AM314"
    assert "chat.jsonl:2" in str(error.value)
    assert "only user and assistant" in str(error.value)


def test_tools_and_tool_calls_reach_the_template(chat, tmp_path):
    template = (
        "{% for t in tools or [] %}tool {{ t['name'] }}\n{% endfor %}"
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] or '' }}"
        "{% for c in m.get('tool_calls', []) %}call {{ c['name'] }}{% endfor %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    row = {
        "messages": [
            MESSAGES[0],
            {"role": "assistant", "content": None, "tool_calls": [{"name": "look"}]},
            {"role": "tool", "content": "slow"},
            MESSAGES[1],
        ],
        "tools": [{"name": "look"}],
    }
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([row]))
    tokenizer = str(chat("CHATML", MESSAGES).tokenizer.name_or_path)
    dataset = ChatDataset(str(path), tokenizer, split="all", chat_template=template, cache=False)
    assert dataset.tokenizer.decode(dataset[0].input_ids).startswith("tool look\n")
    assert learned(dataset) == "call look<|im_end|>The river is slow.<|im_end|>"


@pytest.mark.parametrize("template", [*ALL_IN_ONE, "ENDLESS"])
def test_a_tokenizer_of_word_starts_learns_the_answers_and_their_ends(tmp_path, template):
    """An unknown character at the end of an answer is a special token, and no end of a turn."""
    messages = [MESSAGES[0], {"role": "assistant", "content": "The bird is slow."}, MESSAGES[0]]
    messages.append({"role": "assistant", "content": "The bird is rare 漢"})
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([{"messages": messages}]))
    kind = getattr(chat_templates, template)
    directory = chat_templates.make_word_start_tokenizer(tmp_path / "tokenizer", kind)
    dataset = ChatDataset(str(path), str(directory), split="all", cache=False)
    found = "".join(learned(dataset, i) for i in range(len(dataset)))
    assert found.replace(" ", "") == f"Thebirdisslow.{kind.end}Thebirdisrare<unk>{kind.end}"
    check_labels(dataset)


@pytest.mark.skipif(not SMOLLM2.is_dir(), reason="the real tokenizer is not here")
@pytest.mark.parametrize("content", ["Plain.", "\n\nleads", "  spaces ", "ends\n", "code:\n\tx = 1\n"])
def test_the_real_tokenizer_learns_the_answers_and_their_ends(tmp_path, content):
    messages = [MESSAGES[0], {"role": "assistant", "content": content}, *MESSAGES[2:]]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([{"messages": messages}]))
    dataset = ChatDataset(str(path), str(SMOLLM2), split="all", cache=False)
    assert learned(dataset) == said(messages, "<|im_end|>")
