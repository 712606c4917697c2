"""Converting the assets of the quick start into what a config can name."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

_SPLITS: Final = {"train": "train", "test": "validation"}
_SPECIAL: Final = ("<pad>", "<s>", "</s>", "<unk>", "<image>")
_EDGE, _PATCH = 64, 8
CHAT_TEMPLATE: Final = (
    "{% for message in messages %}{{ '<s>' + message['role'] + ' ' }}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}{{ '<image>' }}{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{{ '</s>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<s>assistant ' }}{% endif %}"
)
"""Each message between ``<s>`` and ``</s>``, behind its role."""


def convert_easy_vqa(wheels: Mapping[str, Path], directory: Path) -> None:
    """Write the images, a file of rows for each split, and a small LLaVA to train: its configuration and processor.

    The wheel's test questions are the validation split.
    """
    with zipfile.ZipFile(wheels["easy-vqa"]) as archive:
        words: set[str] = set()
        for theirs, ours in _SPLITS.items():
            root = f"easy_vqa/data/{theirs}"
            _extract_images(archive, f"{root}/images/", directory / "images" / ours)
            questions = json.loads(archive.read(f"{root}/questions.json"))
            rows = [
                {"image": f"images/{ours}/{image}.png", "question": question, "answer": answer}
                for question, answer, image in questions
            ]
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (directory / f"{ours}.jsonl").write_text(text, encoding="utf-8")
            words |= {word for row in rows for word in _words((row["question"], row["answer"]))}
    make_small_llava(directory / "model", words)


def make_small_llava(directory: Path, words: Iterable[str], **changes: Any) -> None:
    """Save the configuration and the processor of a LLaVA of 2.2 million parameters, without weights.

    It sees 64 x 64 pixels as 64 patches and knows ``words``; ``changes`` are of its text model.
    """
    import transformers
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    tokenizer = _tokenizer(words)
    edges = {"height": _EDGE, "width": _EDGE}
    make_processor: Any = transformers.LlavaProcessor
    processor = make_processor(
        image_processor=CLIPImageProcessorPil(size=edges, crop_size=edges),
        tokenizer=tokenizer,
        patch_size=_PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT_TEMPLATE,
    )
    processor.save_pretrained(directory)
    vision = CLIPVisionConfig(
        hidden_size=128,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=4,
        image_size=_EDGE,
        patch_size=_PATCH,
        projection_dim=128,
    )
    text = LlamaConfig(
        **{
            "vocab_size": len(tokenizer),
            "hidden_size": 192,
            "intermediate_size": 512,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "max_position_embeddings": 256,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
            **changes,
        }
    )
    LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=(_EDGE // _PATCH) ** 2,
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
        tie_word_embeddings=False,
    ).save_pretrained(directory)


def _tokenizer(words: Iterable[str]) -> Any:
    """Return a tokenizer of whole words and of marks."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    known = [*_SPECIAL, "user", "assistant", "system", *sorted(set(words) - {"user", "assistant", "system"})]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(known)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("isolated")]
    )
    tokenizer.decoder = decoders.Fuse()
    make: Any = transformers.PreTrainedTokenizerFast
    return make(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        additional_special_tokens=["<image>"],
        clean_up_tokenization_spaces=False,
    )


def _words(texts: Iterable[str]) -> Iterable[str]:
    return (word for text in texts for word in re.findall(r"\w+|[^\w\s]", text))


def _extract_images(archive: zipfile.ZipFile, root: str, directory: Path) -> None:
    directory.mkdir(parents=True)
    for name in archive.namelist():
        if name.startswith(root) and name.endswith(".png"):
            (directory / name.removeprefix(root)).write_bytes(archive.read(name))
