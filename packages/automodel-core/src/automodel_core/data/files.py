"""From what a config names as data to the files of one split."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

import attrs

from automodel_core.data.splits import check_split
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError

SPLIT_NAMES: Final = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test",),
}
"""What the name of a file may begin with to say which split it is."""

_WILDCARDS: Final = re.compile(r"[*?\[]")


@attrs.frozen
class SplitFiles:
    """The files that hold a split; with ``whole`` every row of them belongs to it."""

    files: tuple[Path, ...]
    whole: bool


def find_files(path: str | Sequence[str], split: str, suffixes: Collection[str], fraction: float | None) -> SplitFiles:
    """Return the files of ``split`` among those that ``path`` names: files, directories and patterns.

    As soon as the name of one file begins with the name of a split, names alone decide. When none does, or when
    ``fraction`` asks for it, rows are held out of the files instead: of those for training, or of all of them.

    Raises:
        InputError: AM301 for what does not exist, AM307 when there is no file for the split.
    """
    check_split(split)
    files = _named_files([path] if isinstance(path, str) else path, suffixes)
    by_split: dict[str | None, list[Path]] = {}
    for file in files:
        by_split.setdefault(split_of_name(file), []).append(file)
    if split == "all":
        return SplitFiles(tuple(files), whole=True)
    if set(by_split) == {None} and split != "test":  # rows can be held out for a validation, never for a test
        return SplitFiles(tuple(files), whole=False)
    if fraction is not None and split != "test" and "train" in by_split:
        return SplitFiles(tuple(by_split["train"]), whole=False)
    if split not in by_split:
        raise InputError(_no_file(split, files, only_training=set(by_split) <= {"train", None}))
    return SplitFiles(tuple(by_split[split]), whole=True)


def split_of_name(path: Path) -> str | None:
    """Return the split that the name of a file says: ``dev-v1.1.json`` is ``validation``."""
    word = re.match(r"[a-z]*", path.name.lower())
    assert word is not None
    return next((split for split, names in SPLIT_NAMES.items() if word.group() in names), None)


def looks_like_a_hub_id(path: str | Sequence[str]) -> bool:
    """Return whether ``path`` can only be a name on a hub: ``owner/name``, and nothing here is called that."""
    if not isinstance(path, str) or _WILDCARDS.search(path) or Path(path).exists():
        return False
    return path.count("/") == 1 and not path.startswith((".", "/", "~")) and "." not in path.rpartition("/")[2]


def _named_files(paths: Sequence[str], suffixes: Collection[str]) -> list[Path]:
    found: dict[Path, None] = {}
    for text in paths:
        if not text:
            raise InputError(Diagnostic("AM301", "`path` is empty", helps=("name a data file or its directory",)))
        place = Path(text).expanduser()
        if place.is_dir():
            found |= dict.fromkeys(_inside(place, suffixes))
        elif place.exists():
            found[place] = None
        elif _WILDCARDS.search(text):
            found |= dict.fromkeys(_matching(str(place), text))
        else:
            raise InputError(missing_file(text))
    if not found:
        raise InputError(Diagnostic("AM303", "`path` names no data file"))
    return list(found)


def missing_file(text: str) -> Diagnostic:
    """Return what is said of a data file that does not exist."""
    return Diagnostic("AM301", f"the data file `{text}` does not exist", helps=_near(Path(text).expanduser()))


def is_missing_file(text: str) -> bool:
    """Return whether ``text`` can only be a path, no pattern, and nothing is there."""
    looks_local = text.startswith((".", "/", "~")) or bool(Path(text).suffix)
    return looks_local and not _WILDCARDS.search(text) and not Path(text).expanduser().exists()


def _near(place: Path) -> tuple[str, ...]:
    if not place.parent.is_dir():
        return (f"there is no directory `{place.parent}`: paths in a config are relative to where you run",)
    return did_you_mean(place.name, [entry.name for entry in place.parent.iterdir()])


def _inside(directory: Path, suffixes: Collection[str]) -> list[Path]:
    files = sorted(p for p in directory.iterdir() if p.suffix.lower() in suffixes and p.is_file())
    if not files:
        kinds = ", ".join(f"`{suffix}`" for suffix in suffixes)
        raise InputError(
            Diagnostic("AM303", f"the directory `{directory}` has no data file", helps=(f"kinds: {kinds}",))
        )
    return files


def _matching(pattern: str, text: str) -> list[Path]:
    files = sorted(Path(p) for p in glob.glob(pattern, recursive=True) if Path(p).is_file())
    if not files:
        raise InputError(Diagnostic("AM301", f"no data file matches `{text}`"))
    return files


def _no_file(split: str, files: Sequence[Path], *, only_training: bool) -> Diagnostic:
    expected = " or ".join(f"`{name}`" for name in SPLIT_NAMES[split])
    listed = ", ".join(f"`{file.name}`" for file in files[:8]) + (", …" if len(files) > 8 else "")
    helps = [f"its name begins with {expected}; found {listed}"]
    if only_training and split == "validation":
        helps.append("or set `validation_fraction: 0.1` in `dataset` to hold rows of the training file out")
    where = files[0].parent if len({file.parent for file in files}) == 1 else "the data"
    return Diagnostic("AM307", f"`{where}` has no file for split `{split}`", helps=tuple(helps))
