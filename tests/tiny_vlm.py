"""A tiny LLaVA and Idefics3 with their processors, as directories; and images with questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

WORDS = (
    "what",
    "colour",
    "is",
    "this",
    "?",
    "red",
    "green",
    "blue",
    "yes",
    "no",
    "and",
    "that",
    "it",
    "first",
    "second",
)
COLOURS = {"red": (220, 20, 20), "green": (20, 220, 20), "blue": (20, 20, 220)}


def make_llava(directory: Path, *, seed: int = 0) -> Path:
    """Save a LLaVA with weights and its processor; 64 x 64 pixels are 64 tokens."""
    from transformers import AutoModelForImageTextToText, LlavaConfig

    from automodel_vlm.assets import make_small_llava

    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    make_small_llava(directory, WORDS, **small, num_key_value_heads=2)
    config = LlavaConfig.from_pretrained(directory)
    config.vision_config.hidden_size, config.vision_config.intermediate_size = 32, 64
    config.vision_config.num_hidden_layers, config.vision_config.num_attention_heads = 2, 2
    torch.manual_seed(seed)
    AutoModelForImageTextToText.from_config(config).save_pretrained(directory)
    return directory


def make_idefics3(directory: Path, *, seed: int = 0) -> Path:
    """Save an Idefics3, whose images take several tokens of several kinds and a number of crops that varies."""
    from transformers import AutoModelForImageTextToText, Idefics3Config, Idefics3Processor, PreTrainedTokenizerFast
    from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

    from automodel_vlm.assets import CHAT_TEMPLATE, make_small_llava

    make_small_llava(directory / "llava", WORDS)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(directory / "llava")
    rows = [f"<row_{row}_col_{column}>" for row in range(1, 4) for column in range(1, 4)]
    special = ["<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>", *rows]
    tokenizer.add_special_tokens({"additional_special_tokens": special})
    edge = {"longest_edge": 32}
    processor = Idefics3Processor(
        image_processor=Idefics3ImageProcessorPil(size={"longest_edge": 64}, max_image_size=edge),
        tokenizer=tokenizer,
        image_seq_len=4,
        chat_template=CHAT_TEMPLATE,
    )
    processor.save_pretrained(directory)
    config = Idefics3Config(
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 32,
            "patch_size": 8,
        },
        text_config={
            "model_type": "llama",
            "vocab_size": len(tokenizer),
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "pad_token_id": tokenizer.pad_token_id,
        },
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        tie_word_embeddings=False,
    )
    torch.manual_seed(seed)
    AutoModelForImageTextToText.from_config(config).save_pretrained(directory)
    return directory


def write_questions(directory: Path, count: int = 24) -> Path:
    """Write images of one colour and of different sizes, and ``rows.jsonl`` that asks for the colour."""
    from PIL import Image

    (directory / "images").mkdir(parents=True)
    rows: list[dict[str, Any]] = []
    for number in range(count):
        colour = list(COLOURS)[number % 3]
        name = f"images/{number}.png"
        Image.new("RGB", (40 + 8 * (number % 4), 48), COLOURS[colour]).save(directory / name)
        rows.append({"image": name, "question": "what colour is this ?", "answer": colour})
    (directory / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return directory
