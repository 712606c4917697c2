"""Reading images as they are shown, whatever their mode, depth and orientation."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from automodel_core.data.image_files import image_size, named_file, read_image
from automodel_core.data.records import Row
from automodel_core.errors import InputError


def row(directory: Path) -> Row:
    return Row("rows.jsonl:3", {}, directory)


def test_sixteen_bits_are_scaled_and_not_cut_off(tmp_path: Path) -> None:
    values = np.array([[0, 256, 32768, 65535]], dtype=np.uint16)
    Image.fromarray(values).save(tmp_path / "deep.png")

    assert np.asarray(read_image(tmp_path / "deep.png", "L", "")).tolist() == [[0, 1, 128, 255]]
    assert read_image(tmp_path / "deep.png", "RGB", "").getpixel((2, 0)) == (128, 128, 128)


def test_a_photograph_is_turned_as_the_camera_says(tmp_path: Path) -> None:
    image = Image.new("RGB", (30, 10), (255, 0, 0))
    image.paste((0, 0, 255), (0, 0, 15, 10))
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(tmp_path / "turned.png", exif=exif)

    shown = read_image(tmp_path / "turned.png", "RGB", "")

    assert shown.size == image_size(tmp_path / "turned.png", "") == (10, 30)
    assert shown.getpixel((5, 2)) == (0, 0, 255)


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "1", "LA"])
def test_every_mode_becomes_the_asked_one(tmp_path: Path, mode: str) -> None:
    Image.new(mode, (5, 4)).save(tmp_path / "image.png")

    for wanted in ("L", "RGB"):
        image = read_image(tmp_path / "image.png", wanted, "")
        assert (image.mode, image.size) == (wanted, (5, 4))


def test_a_large_image_is_read_in_silence_and_an_enormous_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("L", (20, 20)).save(tmp_path / "image.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 300)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_image(tmp_path / "image.png", "L", "").size == (20, 20)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(InputError, match=r"rows.jsonl:3.*cannot be read as an image.*exceeds limit") as refused:
        read_image(tmp_path / "image.png", "L", "rows.jsonl:3")
    assert refused.value.diagnostics[0].code == "AM372"


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (40, 40), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "whole.png")
    data = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "half.png").write_bytes(data[: len(data) // 2])

    assert image_size(tmp_path / "half.png", "") == (40, 40)
    with pytest.raises(InputError, match=r"half.png. cannot be read as an image") as refused:
        read_image(tmp_path / "half.png", "L", "rows.jsonl:3")
    assert refused.value.diagnostics[0].helps == ("replace the file, or remove its row",)


def test_a_name_is_relative_to_the_file_that_has_the_row(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"")

    assert named_file(row(tmp_path), "a.png") == tmp_path / "a.png"
    with pytest.raises(InputError, match=r"rows.jsonl:3.: there is no image .b.png.") as refused:
        named_file(row(tmp_path), "b.png")
    assert refused.value.diagnostics[0].code == "AM371"
    with pytest.raises(InputError, match="is a directory"):
        named_file(row(tmp_path), ".")
