"""Arrays that took long to make, kept in files and mapped into memory, so that processes share them.

An entry is a directory named by the key of everything that its arrays depend on. It is written under a hidden name and
renamed when it is complete; ``entry.json`` in it has the digest of every array, so that what was damaged is noticed and
made again. Two processes that make the same entry at once both succeed, and one of the two directories stays.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np

from automodel_core.data.fingerprints import digest_of_file
from automodel_core.diagnostics import Diagnostic, render

Arrays = Mapping[str, np.ndarray[Any, Any]]

_INDEX: Final = "entry.json"


@attrs.frozen
class CachedArrays:
    """``arrays`` and the plain data ``about`` them; ``reused`` when they were there already.

    What lies in the directory ``entry`` is mapped again, not copied, in a process that this is sent to.
    """

    arrays: Arrays
    about: Mapping[str, Any]
    reused: bool = False
    entry: Path | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.entry is not None:
            return _opened, (self.entry,)
        return CachedArrays, (self.arrays, self.about, self.reused)


@attrs.frozen
class ArrayCache:
    """The entries below ``directory``, which is made when the first is written."""

    directory: Path

    def get(self, key: str, make: Callable[[], CachedArrays]) -> CachedArrays:
        """Return the entry of ``key``, made and written when it is not there or damaged.

        Where it cannot be written, a warning says so and the arrays stay in memory.
        """
        entry = self.directory / key
        found = _read(entry)
        if found is not None:
            return found
        made = make()
        try:
            self._write(entry, made)
        except OSError as error:
            _warn_not_written(self.directory, error)
            return made
        written = _read(entry)
        return made if written is None else attrs.evolve(written, reused=False)

    def _write(self, entry: Path, made: CachedArrays) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=".building-", dir=self.directory))
        try:
            for name, array in made.arrays.items():
                np.save(building / f"{name}.npy", array, allow_pickle=False)
            digests = {name: digest_of_file(building / f"{name}.npy") for name in made.arrays}
            index = json.dumps({"digests": digests, "about": made.about})
            (building / _INDEX).write_text(index, encoding="utf-8")
            _move_into_place(building, entry)
        finally:
            shutil.rmtree(building, ignore_errors=True)


def _move_into_place(building: Path, entry: Path) -> None:
    """Rename ``building`` to ``entry``; what is there is damaged, or another process's, which is as good."""
    try:
        os.rename(building, entry)
        return
    except OSError:
        if _read(entry) is not None:
            return
    damaged = Path(tempfile.mkdtemp(prefix=".damaged-", dir=entry.parent))
    try:
        os.rename(entry, damaged / entry.name)
        os.rename(building, entry)
    finally:
        shutil.rmtree(damaged, ignore_errors=True)


def _read(entry: Path) -> CachedArrays | None:
    """Return the entry in a directory, or ``None`` when it is not there, not complete or damaged."""
    try:
        index = json.loads((entry / _INDEX).read_text(encoding="utf-8"))
        digests = index["digests"]
        if any(digest_of_file(entry / f"{name}.npy") != digest for name, digest in digests.items()):
            return None
        return _opened(entry)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _opened(entry: Path) -> CachedArrays:
    index = json.loads((entry / _INDEX).read_text(encoding="utf-8"))
    arrays = {name: _mapped(entry / f"{name}.npy") for name in index["digests"]}
    return CachedArrays(arrays, index["about"], reused=True, entry=entry)


def _mapped(path: Path) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def _warn_not_written(directory: Path, error: OSError) -> None:
    message = f"the cache `{directory}` cannot be written: {error.strerror or error}"
    helps = ("everything is kept in memory and made again next time; set AUTOMODEL_CACHE to another directory",)
    warning = Diagnostic("AM931", message, helps=helps, severity="warning")
    print(render([warning], sys.stderr), end="", file=sys.stderr, flush=True)
