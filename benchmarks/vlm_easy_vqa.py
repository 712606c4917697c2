"""Does a small vision-language model look at its images?

    automodel assets fetch easy-vqa
    python benchmarks/vlm_easy_vqa.py [--steps 400] [--questions 1500] [--home .bench/easy_vqa]

Trains the starter `easy_vqa`, then compares on held-out questions: the share that it answers word for word, the same
with the images shuffled among the questions, the share that the most frequent answer alone gets, and the share that
the best answer to each question's text gets, whatever the image: the most that words alone can earn.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
from collections import Counter
from importlib import resources
from pathlib import Path

import automodel_core as am
from automodel_core.cache import asset_directory


def held_out(count: int) -> list[dict[str, str]]:
    """Return the first questions of the validation split, with absolute paths of images."""
    home = asset_directory("easy-vqa")
    with (home / "validation.jsonl").open() as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
    return [{**row, "image": str(home / row["image"])} for row in rows]


def with_images_shuffled(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the rows with each other's images."""
    images = [row["image"] for row in rows]
    random.Random(0).shuffle(images)
    return [{**row, "image": image} for row, image in zip(rows, images, strict=True)]


def exact_match(starter: str, checkpoint: Path, rows: list[dict[str, str]], home: Path, name: str) -> float:
    """Return the share of ``rows`` that the checkpoint answers word for word."""
    path = home / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    overrides = [
        f"--restore_from.path={checkpoint}",
        f"--validation_dataset.path={path}",
        "--validation_dataset.split=all",
        "--validation_dataset.limit=null",
    ]
    return float(am.run(starter, overrides=overrides, route="evaluate vlm").result.metrics["exact_match"])


def most_frequent(rows: list[dict[str, str]]) -> int:
    """Return how many rows have the most frequent answer."""
    (_, count), *_ = Counter(row["answer"] for row in rows).most_common(1)
    return count


def by_question(rows: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    """Return the rows of each question's text."""
    groups: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault(row["question"], []).append(row)
    return list(groups.values())


def main() -> None:
    """Train, evaluate with the right images and with wrong ones, print."""
    parser = argparse.ArgumentParser(description="train and evaluate on easy-VQA")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--questions", type=int, default=1500, help="held-out questions to answer")
    parser.add_argument("--home", type=Path, default=Path(".bench/easy_vqa"))
    arguments = parser.parse_args()
    shutil.rmtree(arguments.home, ignore_errors=True)
    starter = str(resources.files("automodel_vlm") / "starters" / "easy_vqa.yaml")
    before = resource.getrusage(resource.RUSAGE_SELF)
    run = arguments.home / "run"
    overrides = [f"--step_scheduler.max_steps={arguments.steps}", f"--checkpoint.directory={run}"]
    am.run(starter, overrides=overrides, route="finetune vlm")
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(f"training: {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.0f} CPU-s")
    checkpoint = run / f"step-{arguments.steps}"
    rows = held_out(arguments.questions)
    yes_or_no = [row for row in rows if row["answer"] in ("yes", "no")]
    open_ended = [row for row in rows if row["answer"] not in ("yes", "no")]
    print(
        "questions | number | most frequent answer | best by the words alone | answered word for word | images shuffled"
    )
    for name, part in (("all", rows), ("yes or no", yes_or_no), ("others", open_ended)):
        count, by_words = most_frequent(part), sum(most_frequent(same) for same in by_question(part))
        right = exact_match(starter, checkpoint, part, arguments.home, "as_they_are")
        shuffled = exact_match(starter, checkpoint, with_images_shuffled(part), arguments.home, "shuffled")
        shares = (count / len(part), by_words / len(part), right, shuffled)
        print(f"{name} | {len(part)} | " + " | ".join(f"{share:.3f}" for share in shares))


if __name__ == "__main__":
    main()
