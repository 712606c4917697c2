"""Whatever is said, what is learned is what the assistant says and the end of its turn."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import chat_templates
import pytest
from chat_templates import make_chat_tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_core.adapters.tokenizer import load_tokenizer
from automodel_llm.data.chat.conversation import conversation_of
from automodel_llm.data.chat.encoding import supervisable_parts
from automodel_llm.data.chat.fitting import fit_conversation
from automodel_llm.data.chat.template import ChatTemplate, open_template

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["", " ", "\n\n", " x", "x\n", "assistant", "The river is slow.", "<|im_end|>", "[INST] x", "é漢🙂", "\ta\r\n"]
)
EXCHANGES = st.lists(st.tuples(TEXT, TEXT.filter(lambda text: text.strip())), min_size=1, max_size=4)
TRIMMED = ("LLAMA_3", "GEMMA")


@cache
def template_of(name: str) -> ChatTemplate:
    directory = make_chat_tokenizer(Path(mkdtemp()), getattr(chat_templates, name))
    found = open_template(load_tokenizer(str(directory)), None)
    assert found is not None
    return found


def messages_of(exchanges):
    return [
        {"role": role, "content": text}
        for exchange in exchanges
        for role, text in zip(("user", "assistant"), exchange, strict=True)
    ]


def learned(template, encoded):
    ids = [token for token, target in zip(encoded.ids, encoded.targets, strict=True) if target]
    return template.tokenizer.decode(ids)


@pytest.mark.parametrize("name", ["CHATML", "LLAMA_3", "MISTRAL", "GEMMA", "MARKED", "DROPS_REASONING"])
@settings(max_examples=60, deadline=None)
@given(EXCHANGES)
def test_what_is_learned_is_what_was_said(name, exchanges):
    template = template_of(name)
    end = getattr(chat_templates, name).end
    conversation = conversation_of("here", messages_of(exchanges), (), last_only=False)
    said = [answer.strip() if name in TRIMMED else answer for _, answer in exchanges]
    parts = supervisable_parts(template, conversation)
    assert "".join(learned(template, encoded) for _, encoded in parts) == "".join(text + end for text in said)
    for _, encoded in parts:
        assert encoded.targets[-1]
        assert not encoded.targets[0]


@pytest.mark.parametrize("name", ["CHATML", "MISTRAL", "MARKED", "DROPS_REASONING", "ENDLESS"])
@settings(max_examples=40, deadline=None)
@given(EXCHANGES, st.integers(2, 60))
def test_any_length_is_kept_to(name, exchanges, max_length):
    template = template_of(name)
    conversation = conversation_of("here", messages_of(exchanges), (), last_only=False)
    for encoded in fit_conversation(template, conversation, max_length):
        assert len(encoded.ids) == len(encoded.targets) <= max_length
        assert encoded.supervised > 0
