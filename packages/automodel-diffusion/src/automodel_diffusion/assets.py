"""Converting the assets of the quick start into what a config can name."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

_DIGITS: Final = "sklearn/datasets/data/digits.csv.gz"
_HELD_OUT: Final = 300
_DARKEST: Final = 16
_EDGE: Final = 8


def convert_digits(wheels: Mapping[str, Path], directory: Path) -> None:
    """Write the digits as PNG files, with ``train.jsonl`` and ``validation.jsonl`` naming them and their class."""
    with zipfile.ZipFile(wheels["scikit-learn"]) as archive:
        text = gzip.decompress(archive.read(_DIGITS)).decode("ascii")
    rows = [[int(float(cell)) for cell in row] for row in csv.reader(io.StringIO(text))]
    (directory / "images").mkdir()
    records = []
    for number, (*pixels, label) in enumerate(rows):
        name = f"images/{number:04d}.png"
        values = np.array(pixels).reshape(_EDGE, _EDGE) * 255 / _DARKEST
        Image.fromarray(values.round().astype(np.uint8)).save(directory / name)
        records.append({"image": name, "label": label})
    random.Random(0).shuffle(records)
    for split, part in (("validation", records[:_HELD_OUT]), ("train", records[_HELD_OUT:])):
        lines = "".join(json.dumps(record) + "\n" for record in part)
        (directory / f"{split}.jsonl").write_text(lines, encoding="utf-8")
