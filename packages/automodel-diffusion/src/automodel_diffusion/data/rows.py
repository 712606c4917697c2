"""Rows that name a file and say what it shows: a label or a caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import torch

from automodel_core.config.argument_types import shown
from automodel_core.data.columns import text_of, value_of
from automodel_core.data.fingerprints import digest_of_value
from automodel_core.data.image_files import named_file
from automodel_core.data.records import Row
from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


@attrs.frozen(eq=False)
class Example:
    """``values`` (C, H, W), pixels in [-1, 1] or scaled latents, and the ``label`` or the ``caption`` of the data."""

    values: torch.Tensor
    label: int | None = None
    caption: str | None = None
    latent: bool = False


@attrs.frozen
class Entry:
    """A file that is read when its sample is asked for, the place of its row, and its label or caption."""

    place: str
    file: Path
    label: int | None
    caption: str | None


def read_entries(source: RowSource, file: str, label: str | None, caption: str | None) -> list[Entry]:
    """Return an entry for every row of ``source``, with each file's existence checked.

    ``file``, ``label`` and ``caption`` are columns. Paths are relative to the file that has the row. Raises
    :class:`InputError`: AM371 for a file that is not there, AM474 for a label that is no class number, AM306 when
    neither or both of ``label`` and ``caption`` are named, and what reading columns raises.
    """
    if (label is None) == (caption is None):
        message = "name the column of a `label` or of a `caption`, one of the two"
        raise InputError(Diagnostic("AM306", message))
    rows = source.open()
    entries: list[Entry] = []
    problems: list[Diagnostic] = []
    for row in rows:
        try:
            found = named_file(row, text_of(row, file), file)
        except InputError as error:
            problems.extend(error.diagnostics)
            continue
        number = None if label is None else _label(row, label)
        entries.append(Entry(row.place, found, number, None if caption is None else text_of(row, caption)))
    if problems:
        raise InputError(problems[:20])
    if not entries:
        raise InputError(Diagnostic("AM303", f"`{rows.name}` has no row in split `{source.split}`"))
    return entries


def _label(row: Row, column: str) -> int:
    value = value_of(row, column)
    number = int(value) if isinstance(value, str) and value.isdigit() else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**31:
        message = f"`{row.place}`: column `{column}` holds {shown(value)}, which is no class number from 0"
        raise InputError(Diagnostic("AM474", message))
    return number


class EntryDataset:
    """Examples read from the files of entries."""

    latent = False

    def __init__(self, entries: Sequence[Entry], read: Callable[[Entry], torch.Tensor]) -> None:
        self.entries, self._read = entries, read
        self.fingerprint = digest_of_value([[entry.file.name, entry.label, entry.caption] for entry in entries])

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Example:
        entry = self.entries[index]
        return Example(self._read(entry), entry.label, entry.caption, self.latent)

    @property
    def labels(self) -> set[int]:
        """Return the classes that there are."""
        return {entry.label for entry in self.entries if entry.label is not None}


def collate(samples: Sequence[Any]) -> dict[str, Any]:
    """Return a batch of drawn examples.

    It has ``images`` or ``latents`` (B, C, H, W), ``seeds`` (B,), and ``labels`` (B,) or ``captions``.
    """
    examples: list[Example] = [drawn.sample for drawn in samples]
    shapes = {tuple(example.values.shape) for example in examples}
    if len(shapes) > 1:
        shown = " and ".join(" x ".join(map(str, shape)) for shape in sorted(shapes)[:2])
        message = f"samples differ in shape: {shown}"
        raise InputError(
            Diagnostic("AM473", message, helps=("give all latents one shape, or train with a batch of 1",))
        )
    batch: dict[str, Any] = {
        "latents" if examples[0].latent else "images": torch.stack([example.values for example in examples]),
        "seeds": torch.tensor([drawn.seed for drawn in samples]),
    }
    if examples[0].label is not None:
        batch["labels"] = torch.tensor([example.label for example in examples])
    else:
        batch["captions"] = [example.caption for example in examples]
    return batch
