"""Small chat templates of every kind, and tokenizers that have them. The tests' own."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
from tiny import make_tokenizer, squad_articles


@attrs.frozen
class Template:
    """A template, the special tokens of its tokenizer, and what ends a turn of the assistant."""

    text: str
    special: tuple[str, ...]
    end: str


CHATML = Template(
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    ("<|im_start|>", "<|im_end|>"),
    "<|im_end|>",
)

LLAMA_3 = Template(
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m['role'] }}<|end_header_id|>\n\n"
    "{{ m['content'] | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
    ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    "<|eot_id|>",
)

MISTRAL = Template(
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}[INST] {{ m['content'] }} [/INST]"
    "{% elif m['role'] == 'assistant' %}{{ m['content'] }}{{ eos_token }}"
    "{% else %}{{ raise_exception('only user and assistant roles are supported') }}{% endif %}{% endfor %}",
    ("[INST]", "[/INST]"),
    "</s>",
)
"""No generation prompt, and roles that it refuses."""

GEMMA = Template(
    "{{ bos_token }}{% for m in messages %}{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
    "<start_of_turn>{{ role }}\n{{ m['content'] | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}",
    ("<start_of_turn>", "<end_of_turn>"),
    "<end_of_turn>",
)

MARKED = Template(
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['role'] == 'assistant' %}"
    "{% generation %}{{ m['content'] }}{% endgeneration %}{% else %}{{ m['content'] }}{% endif %}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    ("<|im_start|>", "<|im_end|>"),
    "<|im_end|>",
)
"""``{% generation %}`` around the text alone: the end of the turn stands outside."""

DROPS_REASONING = Template(
    "{% set last = namespace(user=0) %}{% for m in messages %}{% if m['role'] == 'user' %}"
    "{% set last.user = loop.index0 %}{% endif %}{% endfor %}"
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' and loop.index0 < last.user %}{{ m['content'].split('</think>')[-1] }}"
    "{% else %}{{ m['content'] }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    ("<|im_start|>", "<|im_end|>"),
    "<|im_end|>",
)
"""Reasoning, up to ``</think>``, is written for the turns after the last user's only."""

REWRITES = Template(
    "{{ messages | length }} messages\n"
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    ("<|im_start|>", "<|im_end|>"),
    "<|im_end|>",
)
"""What comes first depends on how much follows: no render of some messages begins that of more."""

ENDLESS = Template(
    "{% for m in messages %}### {{ m['role'] }}:\n{{ m['content'] }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}### assistant:\n{% endif %}",
    (),
    "</s>",
)
"""No special token at all."""

NAMED = Template(
    "{% for m in messages %}{{ m['role'] | capitalize }}: {{ m['content'] }}{{ eos_token }}\n{% endfor %}", (), "</s>"
)
"""No generation prompt, and a header of words before every turn."""


def make_chat_tokenizer(directory: Path, template: Template) -> Path:
    """Save a tokenizer with ``template`` and its special tokens, whose padding token is its end token."""
    from transformers import AutoTokenizer

    make_tokenizer(directory)
    tokenizer = AutoTokenizer.from_pretrained(directory)
    tokenizer.add_special_tokens({"additional_special_tokens": list(template.special)})
    tokenizer.chat_template = template.text
    tokenizer.save_pretrained(directory)
    return directory


def make_word_start_tokenizer(directory: Path, template: Template) -> Path:
    """Save a tokenizer that writes the space before a word as part of it, as SentencePiece does, with ``template``."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    tokenizer.train_from_iterator([json.dumps(squad_articles(50)), "\n"], trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>", unk_token="<unk>"
    )
    fast.add_special_tokens({"additional_special_tokens": list(template.special)})
    fast.chat_template = template.text
    fast.save_pretrained(directory)
    return directory
