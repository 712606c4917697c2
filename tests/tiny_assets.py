"""Stand-ins for the assets of the starters: the same names and columns, with a tiny model and a few rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from retrieval_made import make_encoder, pairs, write_rows
from tiny import llama_config, make_model
from tiny_pipelines import write_images
from tiny_vlm import make_llava, write_questions

Maker = Callable[[Path], None]


def smollm2(directory: Path) -> None:
    model = make_model(directory, llama_config(head_dim=8))
    turn = "{{ '<s>' + m['role'] + ' ' + m['content'] + '</s>' }}"
    template = "{% for m in messages %}" + turn + "{% endfor %}{% if add_generation_prompt %}<s>assistant {% endif %}"
    (model / "chat_template.jinja").write_text(template)


def wikipedia_descriptions(directory: Path) -> None:
    for split, count in (("train", 40), ("validation", 6)):
        rows: list[dict[str, Any]] = [
            {"question": f"What is {i}?", "answer": f"The number {i}.", "context": f"{i} is." * 9} for i in range(count)
        ]
        for kind in ("descriptions", "squad"):
            path = directory / kind / f"{split}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps({**row, "split": split}) + "\n" for row in rows))


def digits(directory: Path) -> None:
    write_images(directory)
    rows = (directory / "rows.jsonl").read_text().splitlines()
    (directory / "rows.jsonl").unlink()
    (directory / "train.jsonl").write_text("\n".join(rows[4:]))
    (directory / "validation.jsonl").write_text("\n".join(rows[:4]))


def easy_vqa(directory: Path) -> None:
    make_llava(directory / "model")
    for split, count in (("train", 24), ("validation", 6)):
        made = write_questions(directory / split, count)
        (directory / "images").mkdir(exist_ok=True)
        (made / "images").rename(directory / "images" / split)
        rows = [json.loads(line) for line in (made / "rows.jsonl").read_text().splitlines()]
        renamed = [{**row, "image": row["image"].replace("images/", f"images/{split}/")} for row in rows]
        (directory / f"{split}.jsonl").write_text("\n".join(map(json.dumps, renamed)))


def minilm(directory: Path) -> None:
    directory.mkdir(parents=True)
    make_encoder(directory)


def wikipedia_passages(directory: Path) -> None:
    directory.mkdir(parents=True)
    for split, count in (("train", 40), ("validation", 12)):
        rows = [
            {"query": row["query"], "positive": {"id": f"{split} {i}", "text": row["positive"]}}
            for i, row in enumerate(pairs(count, seed=count))
        ]
        write_rows(directory / f"{split}.jsonl", rows)


MAKERS: dict[str, Maker] = {
    "smollm2-135m-instruct": smollm2,
    "wikipedia-descriptions": wikipedia_descriptions,
    "digits": digits,
    "easy-vqa": easy_vqa,
    "minilm-l6-v2": minilm,
    "wikipedia-passages": wikipedia_passages,
}
"""By the name of the asset."""
