"""What a row may say of an image or a latent, and what is said of a row that does not fit."""

import json

import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from tiny_pipelines import write_images

from automodel_core.errors import InputError
from automodel_diffusion.data.images import ImageDataset
from automodel_diffusion.data.latents import LatentDataset
from automodel_diffusion.data.rows import collate
from automodel_diffusion.flow.draws import DrawnDataset


@pytest.fixture
def images(tmp_path):
    return write_images(tmp_path / "data", 8)


def write(directory, *rows):
    (directory / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return str(directory / "rows.jsonl")


def test_pixels_run_from_minus_one_to_one_and_paths_are_relative_to_the_rows(images):
    Image.new("L", (8, 8), 255).save(images / "white.png")
    dataset = ImageDataset(write(images, {"image": "white.png", "label": 2}), 8, 1, label="label", split="all")
    assert torch.equal(dataset[0].values, torch.ones(1, 8, 8))
    assert (dataset[0].label, dataset.labels) == (2, {2})


def test_a_larger_image_keeps_its_middle_square(images):
    wide = Image.new("RGB", (30, 10), (255, 0, 0))
    wide.paste((0, 0, 255), (10, 0, 20, 10))
    wide.save(images / "wide.png")
    dataset = ImageDataset(write(images, {"image": "wide.png", "text": "blue"}), 10, caption="text", split="all")
    assert dataset[0].values.shape == (3, 10, 10)
    assert dataset[0].values[2].min() == 1.0
    assert dataset[0].caption == "blue"


@pytest.mark.parametrize(
    ("row", "code", "says"),
    [
        ({"image": "images/99.png", "label": 0}, "AM371", "rows.jsonl:1`: there is no image `images/99.png`"),
        ({"image": "images/0.png", "label": -1}, "AM474", "holds the int `-1`"),
        ({"image": "images/0.png", "label": "cat"}, "AM474", "holds the text `cat`"),
        ({"image": "images/0.png"}, "AM309", "no column `label`"),
        ({"picture": "images/0.png", "label": 0}, "AM309", "no column `image`"),
    ],
)
def test_a_row_that_does_not_fit_is_named(images, row, code, says):
    with pytest.raises(InputError, match=says.replace("`", ".")) as error:
        ImageDataset(write(images, row), 8, 1, label="label", split="all")
    assert error.value.diagnostics[0].code == code


def test_every_missing_file_is_said_at_once(images):
    rows = [{"image": f"gone/{n}.png", "label": 0} for n in range(3)]
    with pytest.raises(InputError) as error:
        ImageDataset(write(images, *rows), 8, 1, label="label", split="all")
    assert len(error.value.diagnostics) == 3


def test_a_file_that_is_no_image_is_named_when_it_is_read(images):
    (images / "images/0.png").write_text("not an image")
    dataset = ImageDataset(write(images, {"image": "images/0.png", "label": 0}), 8, 1, label="label", split="all")
    with pytest.raises(InputError, match=r"rows\.jsonl:1.*cannot be read as an image"):
        dataset[0]


def test_a_label_or_a_caption_is_named_and_not_both(images):
    with pytest.raises(InputError, match="one of the two"):
        ImageDataset(str(images), 8, 1, split="all")
    with pytest.raises(InputError, match="one of the two"):
        ImageDataset(str(images), 8, 1, label="label", caption="caption", split="all")


def test_latents_are_read_by_their_key(tmp_path):
    save_file({"latent": torch.ones(4, 2, 2, dtype=torch.float16), "flat": torch.ones(3)}, tmp_path / "a.safetensors")
    path = write(tmp_path, {"latent": "a.safetensors", "label": 1})
    example = LatentDataset(path, label="label", split="all")[0]
    assert (example.values.dtype, example.values.shape, example.latent) == (torch.float32, (4, 2, 2), True)
    with pytest.raises(InputError, match=r"no tensor .flat. of three dimensions.*`flat` \(3,\)"):
        LatentDataset(path, key="flat", label="label", split="all")[0]


def test_latents_of_two_shapes_are_refused_in_one_batch(images):
    for number, edge in enumerate((4, 6)):
        save_file({"latent": torch.zeros(4, edge, edge)}, images / f"{number}.safetensors")
    rows = [{"latent": f"{number}.safetensors", "label": 0} for number in range(2)]
    dataset = DrawnDataset(LatentDataset(write(images, *rows), label="label", split="all"), 0)
    with pytest.raises(InputError, match="samples differ in shape: 4 x 4 x 4 and 4 x 6 x 6"):
        collate([dataset[0], dataset[1]])


def test_complex_latents_are_refused(images):
    save_file({"latent": torch.zeros(4, 4, 4, dtype=torch.complex64)}, images / "c.safetensors")
    dataset = LatentDataset(write(images, {"latent": "c.safetensors", "label": 0}), label="label", split="all")
    with pytest.raises(InputError, match="holds complex numbers"):
        dataset[0]


def test_the_order_of_rows_belongs_to_what_the_data_are(images):
    rows = [{"image": f"images/{n}.png", "label": n % 4} for n in range(4)]
    one = ImageDataset(write(images, *rows), 8, 1, label="label", split="all").fingerprint
    other = ImageDataset(write(images, *rows[::-1]), 8, 1, label="label", split="all").fingerprint
    assert one != other


def test_a_label_too_large_for_any_model_is_named(images):
    with pytest.raises(InputError, match="no class number"):
        ImageDataset(write(images, {"image": "images/0.png", "label": 10**30}), 8, 1, label="label", split="all")
