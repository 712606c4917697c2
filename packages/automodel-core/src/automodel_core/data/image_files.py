"""Image files that rows name, read with PIL, which a domain of images brings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

_ORIENTATION: Final = 0x0112
_TURNED: Final = (5, 6, 7, 8)
"""Values of EXIF's orientation that stand for a quarter turn."""


def named_file(row: Row, path: str, what: str = "image") -> Path:
    """Return the file at ``path``, which is relative to the file that has the row.

    Raises :class:`InputError` (AM371) when it is not there.
    """
    file = row.directory / Path(path).expanduser()
    if file.is_file():
        return file
    if file.is_dir():
        message, helps = f"`{row.place}`: `{path}` is a directory", (f"name the file of one {what}",)
    else:
        message = f"`{row.place}`: there is no {what} `{path}`"
        helps = (f"paths in data are relative to `{row.directory}`",)
    raise InputError(Diagnostic("AM371", message, helps=helps))


def image_size(file: Path, place: str) -> tuple[int, int]:
    """Return (width, height) as the image is shown, reading no pixels.

    Raises :class:`InputError` (AM372), beginning with ``place``, for what is no image.
    """
    with _opened(file, place) as image:
        width, height = image.size
        # Asked for metadata that it has not come by yet, PIL would read all of a PNG.
        turned = (image.format != "PNG" or "exif" in image.info) and image.getexif().get(_ORIENTATION) in _TURNED
        return (height, width) if turned else (width, height)


def read_image(file: Path, mode: str, place: str) -> Image.Image:
    """Return the pixels, turned as the camera says, in ``mode``: ``RGB`` or ``L``. Of an animation, the first picture.

    Raises :class:`InputError` (AM372), beginning with ``place``, for what is no image, or a damaged one.
    """
    from PIL import ImageOps

    with _opened(file, place) as image:
        upright = ImageOps.exif_transpose(image)
        return _in_eight_bits(upright).convert(mode)


def _in_eight_bits(image: Image.Image) -> Image.Image:
    """Return an image of 16 bits a pixel in 8: PIL's own conversion would cut off what is brighter than 255."""
    if not image.mode.startswith("I"):
        return image
    import numpy as np
    from PIL import Image

    values = np.asarray(image).astype(np.int64)
    return Image.fromarray((np.clip(values, 0, 65535) >> 8).astype(np.uint8))


@contextmanager
def _opened(file: Path, place: str) -> Iterator[Any]:
    from PIL import Image

    start = f"`{place}`: " if place else ""
    if not file.exists():
        raise InputError(Diagnostic("AM371", f"{start}there is no image `{file}`"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(file) as image:
                yield image
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        message = f"{start}`{file}` cannot be read as an image: {error}"
        helps = ("replace the file, or remove its row" if place else "name another file",)
        raise InputError(Diagnostic("AM372", message, helps=helps)) from None
