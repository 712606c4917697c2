"""Tiny encoders, tokenizers and data of queries with documents, made on the spot."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import torch

WORDS = tuple(
    f"{first}{last}" for first in ("ka", "lo", "mi", "ru", "te", "so") for last in ("ban", "dor", "fel", "gim")
)


def make_word_tokenizer(directory: Path, *, padding_side: str = "right") -> Path:
    """Save a tokenizer of whole words to ``directory``, with BERT's ``[CLS] a [SEP] b [SEP]``."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: number for number, word in enumerate([*special, "query:", "passage:", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        padding_side=padding_side,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ).save_pretrained(directory)
    return directory


def make_encoder(directory: Path, *, seed: int = 0, dropout: float = 0.0, padding_side: str = "right") -> Path:
    """Save a random BERT of about 20 thousand parameters, without a head, with its tokenizer."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=6 + len(WORDS),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=128,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    torch.manual_seed(seed)
    BertModel(config).save_pretrained(directory)
    return make_word_tokenizer(directory, padding_side=padding_side)


def pairs(count: int, seed: int = 0, negatives: int = 2) -> list[dict]:
    """Return rows whose positive has the words of the query in another order, and others."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        query = draw.sample(WORDS, 3)
        positive = [*draw.sample(query, 3), *draw.choices(WORDS, k=draw.randint(1, 5))]
        others = [" ".join(draw.choices(WORDS, k=5)) for _ in range(negatives)]
        rows.append({"query": " ".join(query), "positive": " ".join(positive), "negatives": others})
    return rows


def write_rows(path: Path, rows: Sequence[dict]) -> Path:
    """Write ``rows`` as JSON lines and return the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
