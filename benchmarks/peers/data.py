"""Rows, tokenizer and initial weights: made once, from a fixed seed and without a network.

The text is the Python standard library's own source.
"""

from __future__ import annotations

import json
import random
import shutil
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from peers.workloads import ALPHA, DATA, LORA_TARGETS, MAX_STEPS, RANK, WORKLOADS

SEED = 1234
VOCABULARY = 8192
CORPUS_CHARACTERS = 4_000_000
SPECIAL = ("<|pad|>", "<|end|>", "<|begin|>")
NEEDS = ("transformers", "tokenizers", "peft")


def ensure_data() -> None:
    """Make what is missing below the data directory; a run that was cut short leaves nothing half done."""
    if DATA.is_dir():
        return
    absent = [module for module in NEEDS if find_spec(module) is None]
    if absent:
        raise SystemExit(f"making the data needs packages that are not installed here: {', '.join(absent)}")
    partial = DATA.with_name(f"{DATA.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    texts = _texts()
    tokenizer = _make_tokenizer(texts, partial)
    _write_rows(texts, tokenizer, partial)
    _write_models(tokenizer, partial)
    partial.rename(DATA)


def _texts() -> list[str]:
    root = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(p for p in root.rglob("*.py") if not {"site-packages", "test"} & set(p.parts))
    texts, characters = [], 0
    for file in files:
        text = file.read_text(encoding="utf-8", errors="ignore")
        texts.append(text)
        characters += len(text)
        if characters > CORPUS_CHARACTERS:
            break
    random.Random(SEED).shuffle(texts)
    return texts


def _make_tokenizer(texts: list[str], out: Path):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(texts, trainer)
    pad, end, begin = SPECIAL
    return PreTrainedTokenizerFast(tokenizer_object=bpe, pad_token=pad, eos_token=end, bos_token=begin)


def _write_rows(texts: list[str], tokenizer, out: Path) -> None:
    (workload,) = {(w.length, w.batch, w.rows) for w in WORKLOADS.values()}
    length, batch, name = workload
    wanted = MAX_STEPS * batch * length
    stream: list[int] = []
    for text in texts:
        stream += [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        if len(stream) >= wanted:
            break
    with open(out / name, "w", encoding="utf-8") as file:
        for start in range(0, wanted, length):
            file.write(json.dumps({"input_ids": stream[start : start + length]}) + "\n")


def _write_models(tokenizer, out: Path) -> None:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(SEED)
    workload = WORKLOADS["w4"]
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=688,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=512,
        rms_norm_eps=1e-5,
        tie_word_embeddings=False,
        use_cache=False,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=2,
    )
    model = LlamaForCausalLM(config)
    model.save_pretrained(out / workload.model)
    tokenizer.save_pretrained(out / workload.model)
    lora = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=list(LORA_TARGETS), lora_dropout=0.0)
    get_peft_model(model, lora).save_pretrained(out / workload.adapter)
