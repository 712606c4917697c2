"""Pipelines of diffusers, small enough to train in a test, as directories; and images with labels or captions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

LABELLED_UNET: dict[str, Any] = {
    "_class_name": "UNet2DModel",
    "sample_size": 8,
    "in_channels": 1,
    "out_channels": 1,
    "block_out_channels": [8, 16],
    "layers_per_block": 1,
    "norm_num_groups": 4,
    "down_block_types": ["DownBlock2D", "AttnDownBlock2D"],
    "up_block_types": ["AttnUpBlock2D", "UpBlock2D"],
    "num_class_embeds": 5,
}
"""Four classes, and one that means none."""


def write_images(directory: Path, count: int = 24, *, edge: int = 8, channels: int = 1) -> Path:
    """Write images of four classes, a bright quarter each, with ``rows.jsonl`` beside them; return the directory."""
    from PIL import Image

    (directory / "images").mkdir(parents=True)
    draw = np.random.default_rng(0)
    lines = []
    for number in range(count):
        label = number % 4
        values = draw.integers(0, 60, (edge, edge, channels), dtype=np.uint8)
        row, column = divmod(label, 2)
        half = edge // 2
        values[row * half : (row + 1) * half, column * half : (column + 1) * half] += 180
        name = f"images/{number}.png"
        Image.fromarray(values[..., 0] if channels == 1 else values).save(directory / name)
        lines.append(json.dumps({"image": name, "label": label, "caption": f"part {label}"}))
    (directory / "rows.jsonl").write_text("\n".join(lines))
    return directory


def make_autoencoder(channels: int = 3, *, shift: float | None = None) -> Any:
    """Return an autoencoder with random weights, which halves the edge."""
    from diffusers import AutoencoderKL

    torch.manual_seed(1)
    return AutoencoderKL(
        in_channels=channels,
        out_channels=channels,
        block_out_channels=(8, 8),
        down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
        up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
        latent_channels=4,
        norm_num_groups=4,
        scaling_factor=0.5,
        shift_factor=shift,
    )


def flow_scheduler() -> Any:
    """Return a scheduler of the kind that pipelines older than flow matching can use."""
    from diffusers import UniPCMultistepScheduler

    return UniPCMultistepScheduler(
        prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=1.0, steps_offset=1
    )


def make_dit(directory: Path) -> Path:
    """Save a pipeline of latents with labels: a transformer, an autoencoder, a flow scheduler of another family."""
    from diffusers import DiTPipeline, DiTTransformer2DModel

    torch.manual_seed(0)
    transformer = DiTTransformer2DModel(
        num_attention_heads=2,
        attention_head_dim=8,
        in_channels=4,
        out_channels=4,
        num_layers=2,
        sample_size=8,
        patch_size=2,
    )
    DiTPipeline(transformer, make_autoencoder(), flow_scheduler()).save_pretrained(directory)
    return directory


def make_stable_diffusion(directory: Path) -> Path:
    """Save a pipeline of latents with prompts: a UNet, an autoencoder, a text encoder with its tokenizer."""
    from diffusers import StableDiffusionPipeline, UNet2DConditionModel
    from transformers import CLIPTextModel

    torch.manual_seed(0)
    unet = UNet2DConditionModel(
        sample_size=8,
        in_channels=4,
        out_channels=4,
        block_out_channels=(8, 16),
        layers_per_block=1,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=16,
        attention_head_dim=4,
        norm_num_groups=4,
    )
    StableDiffusionPipeline(
        vae=make_autoencoder(),
        text_encoder=CLIPTextModel(_text_config()),
        tokenizer=_letters(directory.with_name(f"{directory.name}-tokenizer")),
        unet=unet,
        scheduler=flow_scheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(directory)
    return directory


def make_stable_diffusion_3(directory: Path) -> Path:
    """Save a pipeline of latents with prompts: a transformer, and two text encoders that it is told of in two ways."""
    from diffusers import FlowMatchEulerDiscreteScheduler, SD3Transformer2DModel, StableDiffusion3Pipeline
    from transformers import CLIPTextModelWithProjection, T5Config, T5EncoderModel

    torch.manual_seed(0)
    transformer = SD3Transformer2DModel(
        sample_size=8,
        patch_size=2,
        in_channels=4,
        out_channels=4,
        num_layers=2,
        attention_head_dim=8,
        num_attention_heads=2,
        joint_attention_dim=32,
        caption_projection_dim=16,
        pooled_projection_dim=32,
        pos_embed_max_size=8,
    )
    tokenizer = _letters(directory.with_name(f"{directory.name}-tokenizer"))
    long = T5Config(vocab_size=20, d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=2)
    encoders = [CLIPTextModelWithProjection(_text_config()) for _ in range(2)]
    StableDiffusion3Pipeline(
        transformer=transformer,
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=make_autoencoder(shift=0.1),
        text_encoder=encoders[0],
        tokenizer=tokenizer,
        text_encoder_2=encoders[1],
        tokenizer_2=tokenizer,
        text_encoder_3=T5EncoderModel(long),
        tokenizer_3=_words(),
    ).save_pretrained(directory)
    return directory


def _words() -> Any:
    """Return a tokenizer of a few words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["<pad>", "</s>", "<unk>", "part", "0", "1", "2", "3"]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=32
    )


def _text_config() -> Any:
    from transformers import CLIPTextConfig

    return CLIPTextConfig(
        bos_token_id=0,
        eos_token_id=1,
        vocab_size=60,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=16,
        projection_dim=16,
    )


def _letters(directory: Path) -> Any:
    """Return a tokenizer of letters and digits."""
    from transformers import CLIPTokenizer

    directory.mkdir(parents=True)
    symbols = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = ["<|startoftext|>", "<|endoftext|>", *(f"{letter}</w>" for letter in symbols)]
    (directory / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (directory / "merges.txt").write_text("#version: 0.2\n")
    return CLIPTokenizer(str(directory / "vocab.json"), str(directory / "merges.txt"), model_max_length=16)
