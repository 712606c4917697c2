"""How many sampled digits a judge reads as the digit that was asked for.

    automodel assets fetch digits
    python benchmarks/diffusion_digits.py [--steps 600] [--samples 10] [--home .bench/digits]

Trains the starter `digits_flow`, loads its last checkpoint with plain diffusers, and shows 10 samples of each digit to
a support vector machine that was trained on the real training digits. Its accuracy on real held-out digits is printed
beside. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from diffusers import DiffusionPipeline
from PIL import Image
from sklearn.svm import SVC

import automodel_core as am
from automodel_core.cache import asset_directory

GUIDANCE = (1.0, 1.5, 3.0)


def real_digits(split: str) -> tuple[np.ndarray, np.ndarray]:
    """Return pixels in [0, 1], (N, 64), and classes (N,)."""
    home = asset_directory("digits")
    rows = [json.loads(line) for line in (home / f"{split}.jsonl").read_text().splitlines()]
    pixels = [np.asarray(Image.open(home / row["image"]), dtype=np.float32).ravel() / 255 for row in rows]
    return np.stack(pixels), np.array([row["label"] for row in rows])


def read_as_asked(judge: SVC, checkpoint: Path, each: int, guidance: float) -> float:
    """Return the share of samples that ``judge`` reads as the digit asked for."""
    pipeline = DiffusionPipeline.from_pretrained(checkpoint, trust_remote_code=True)
    pipeline.set_progress_bar_config(disable=True)
    asked = [digit for digit in range(10) for _ in range(each)]
    images = pipeline(
        class_labels=asked,
        guidance_scale=guidance,
        num_inference_steps=30,
        generator=torch.Generator().manual_seed(0),
        output_type="np",
    ).images
    pixels = (images[..., 0] * 255).round().reshape(len(asked), -1) / 255
    return float((judge.predict(pixels) == np.array(asked)).mean())


def main() -> None:
    """Train, sample, judge, print."""
    parser = argparse.ArgumentParser(description="judge sampled digits")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--samples", type=int, default=10, help="of each digit")
    parser.add_argument("--home", type=Path, default=Path(".bench/digits"))
    arguments = parser.parse_args()
    shutil.rmtree(arguments.home, ignore_errors=True)
    starter = resources.files("automodel_diffusion") / "starters" / "digits_flow.yaml"
    before = resource.getrusage(resource.RUSAGE_SELF)
    overrides = [f"--step_scheduler.max_steps={arguments.steps}", f"--checkpoint.directory={arguments.home}"]
    am.run(str(starter), overrides=overrides, route="pretrain diffusion")
    after = resource.getrusage(resource.RUSAGE_SELF)
    judge = SVC(C=10).fit(*real_digits("train"))
    print(f"training: {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.0f} CPU-s")
    print(f"judge on real held-out digits: {judge.score(*real_digits('validation')):.3f}")
    for guidance in GUIDANCE:
        share = read_as_asked(judge, arguments.home / f"step-{arguments.steps}", arguments.samples, guidance)
        print(f"guidance {guidance}: {share:.2f} of {10 * arguments.samples} samples read as the digit asked for")


if __name__ == "__main__":
    main()
