"""Tiny real models, tokenizers and data, made on the spot. The tests' own: nothing is downloaded."""

from __future__ import annotations

import json
import random
from pathlib import Path

import torch

SEED_YAML = Path(__file__).parent / "data" / "seed.yaml"
"""The YAML of the first seed, verbatim."""

SUBJECTS = ("river", "mountain", "engine", "poet", "city", "planet", "theory", "bird")
QUALITIES = ("old", "bright", "slow", "famous", "distant", "quiet", "large", "rare")


def squad_articles(rows: int, seed: int = 0) -> dict:
    """Return ``rows`` questions in SQuAD's nested form; the answer is always in the context."""
    draw = random.Random(seed)
    paragraphs = []
    for number in range(rows):
        subject, quality = draw.choice(SUBJECTS), draw.choice(QUALITIES)
        context = f"The {subject} number {number} is {quality} and stands near another {draw.choice(SUBJECTS)}."
        answers = [{"text": quality, "answer_start": context.index(quality)}]
        question = {"id": str(number), "question": f"How is the {subject}?", "answers": answers}
        paragraphs.append({"context": context, "qas": [question]})
    return {"version": "1.1", "data": [{"title": "made", "paragraphs": paragraphs}]}


def write_squad(path: Path, rows: int = 40, seed: int = 0) -> Path:
    """Write a SQuAD file and return its path."""
    path.write_text(json.dumps(squad_articles(rows, seed)), encoding="utf-8")
    return path


def make_tokenizer(directory: Path, *, vocabulary: int = 300) -> Path:
    """Train a byte-level BPE tokenizer on the words of the made data, save it to ``directory`` and return that."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([json.dumps(squad_articles(50))], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")
    fast.save_pretrained(directory)
    return directory


def llama_config(**changes):
    """Return the configuration of a Llama of about 60 thousand parameters."""
    from transformers import LlamaConfig

    base = {
        "vocab_size": 300,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 1,
        "tie_word_embeddings": True,
    }
    return LlamaConfig(**{**base, **changes})


def nemotron_h_config(**changes):
    """Return the configuration of a NemotronH with a Mamba, an attention and an MLP layer."""
    from transformers import NemotronHConfig

    base = {
        "vocab_size": 300,
        "hidden_size": 32,
        "intermediate_size": 64,
        "layers_block_type": ["linear_attention", "full_attention", "mlp"],
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "mamba_num_heads": 8,
        "mamba_head_dim": 8,
        "ssm_state_size": 16,
        "n_groups": 2,
        "chunk_size": 16,
        "use_mamba_kernels": False,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 1,
    }
    return NemotronHConfig(**{**base, **changes})


def make_model(directory: Path, config, *, seed: int = 0, tokenizer: bool = True) -> Path:
    """Save a random causal model of ``config``, with a tokenizer beside it, and return the directory."""
    from transformers import AutoModelForCausalLM

    torch.manual_seed(seed)
    AutoModelForCausalLM.from_config(config).save_pretrained(directory)
    if tokenizer:
        make_tokenizer(directory)
    return directory
