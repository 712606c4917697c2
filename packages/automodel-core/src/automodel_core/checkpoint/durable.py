"""Writing so that a crash at any moment leaves either the old or the new, never a mixture."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def sync_file(path: Path) -> None:
    """Flush ``path`` (a file or a directory) to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(directory: Path) -> None:
    """Flush every file and directory below ``directory``, itself included."""
    for parent, _, files in os.walk(directory, topdown=False):
        for name in files:
            sync_file(Path(parent, name))
        sync_file(Path(parent))


def replace_text(path: Path, text: str) -> None:
    """Make ``text`` the content of ``path`` in one atomic step."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_file(path.parent)


def publish_directory(partial: Path, final: Path) -> None:
    """Rename the flushed ``partial`` to ``final``; a directory already there is set aside first and removed after."""
    sync_tree(partial)
    aside = final.with_name(f".{final.name}.replaced")
    shutil.rmtree(aside, ignore_errors=True)
    if final.exists():
        final.rename(aside)
    partial.rename(final)
    sync_file(final.parent)
    shutil.rmtree(aside, ignore_errors=True)


def remove_directory(directory: Path) -> None:
    """Delete ``directory``, first giving it a hidden name: one that is half deleted is never taken for whole."""
    hidden = directory.with_name(f".{directory.name}.expired")
    shutil.rmtree(hidden, ignore_errors=True)
    shutil.rmtree(directory.rename(hidden))
