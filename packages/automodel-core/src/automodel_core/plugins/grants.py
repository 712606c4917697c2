"""What the user vouches for himself: ``--trust`` on the command line, and ``AUTOMODEL_TRUST`` in the environment.

Each word is a module (``my_package``), a Python file (``./my_data.py``), or a directory whose project file counts also
for the configs that lie in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

import attrs

from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import InputError

TRUST_VARIABLE: Final = "AUTOMODEL_TRUST"
_MODULE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_WORDS: ContextVar[tuple[str, ...]] = ContextVar("words of --trust", default=())


@attrs.frozen
class Grants:
    """Module prefixes, files and directories, the paths whole."""

    modules: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    directories: tuple[Path, ...] = ()

    def include(self, directory: Path) -> bool:
        """Return whether a directory is one of those, or lies below one."""
        return any(directory.resolve().is_relative_to(granted) for granted in self.directories)


@contextmanager
def trusting(words: Iterable[str]) -> Iterator[None]:
    """Vouch for what ``words`` name, within the block. Raise :class:`InputError`, AM614, for one that names nothing."""
    added = tuple(words)
    read_grants(added)
    token = _WORDS.set((*_WORDS.get(), *added))
    try:
        yield
    finally:
        _WORDS.reset(token)


def granted() -> Grants:
    """Return what is vouched for here. Raise :class:`InputError`, AM614, for a word that names nothing."""
    spoken = os.environ.get(TRUST_VARIABLE, "").split(os.pathsep)
    return read_grants((*_WORDS.get(), *(word.strip() for word in spoken if word.strip())))


def read_grants(words: Iterable[str]) -> Grants:
    """Tell modules, files and directories apart. Raise :class:`InputError` with every word that is none."""
    modules, files, directories, problems = [], [], [], []
    for word in words:
        path = Path(word).expanduser()
        if word.endswith(".py") and path.is_file():
            files.append(path.resolve())
        elif _is_path(word) and path.is_dir():
            directories.append(path.resolve())
        elif not _is_path(word) and _MODULE.fullmatch(word):
            modules.append(word)
        else:
            problems.append(_no_such(word, path))
    if problems:
        raise InputError(problems)
    return Grants(tuple(modules), tuple(files), tuple(directories))


def _is_path(word: str) -> bool:
    return word.endswith(".py") or word.startswith((".", "~")) or os.sep in word


def _no_such(word: str, path: Path) -> Diagnostic:
    if not _is_path(word):
        helps: tuple[str, ...] = ("name a module, such as `my_package`, a Python file, or a directory, such as `.`",)
        return Diagnostic("AM614", f"`{word}` is nothing that can be trusted", helps=helps)
    siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    what = "file" if word.endswith(".py") else "directory"
    return Diagnostic("AM614", f"there is no {what} `{word}` to trust", helps=did_you_mean(path.name, siblings))
