"""The manifest of a checkpoint: what is in it, and the hashes that show it is whole.

A directory is a complete checkpoint exactly when it has a manifest, since the manifest is written last.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

MANIFEST: Final = "manifest.json"
FORMAT: Final = "automodel-checkpoint"
VERSION: Final = 1
BLOCK_BYTES: Final = 64 * 2**20
"""Files are hashed in blocks of this size so that ranks can share the work."""


@attrs.frozen
class FileEntry:
    """One file: its path below the checkpoint, its size in bytes, the SHA-256 of each of its blocks in order."""

    path: str
    size: int
    blocks: tuple[str, ...]


@attrs.frozen
class Manifest:
    """``layout`` are the parallel sizes the checkpoint was written with; ``automodel`` the version that wrote it."""

    step: int
    epoch: int
    world_size: int
    layout: Mapping[str, int]
    automodel: str
    files: tuple[FileEntry, ...]
    version: int = VERSION

    def to_json(self) -> str:
        """Return the text of the manifest file."""
        return json.dumps({"format": FORMAT, **attrs.asdict(self)}, indent=1) + "\n"


def hash_blocks(path: Path) -> tuple[str, ...]:
    """Return the SHA-256 of each :data:`BLOCK_BYTES` of ``path``; an empty file has none."""
    digests = []
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digests.append(hashlib.sha256(block).hexdigest())
    return tuple(digests)


def describe_files(directory: Path) -> tuple[FileEntry, ...]:
    """Return an entry for every file below ``directory`` but the manifest, in the order of their paths."""
    files = sorted(p for p in directory.rglob("*") if p.is_file() and p.name != MANIFEST)
    return tuple(FileEntry(p.relative_to(directory).as_posix(), p.stat().st_size, hash_blocks(p)) for p in files)


class ManifestError(ValueError):
    """The manifest itself cannot be read."""


def read_manifest(directory: Path) -> Manifest:
    """Return the manifest of ``directory``. Raises ``FileNotFoundError`` without one, :class:`ManifestError` if bad."""
    text = (directory / MANIFEST).read_bytes()
    try:
        data: dict[str, Any] = json.loads(text)
        if data.pop("format") != FORMAT:
            raise ManifestError("it is the manifest of something else")
        if data["version"] > VERSION:
            raise ManifestError(f"format version {data['version']} is newer than this version of automodel reads")
        files = tuple(FileEntry(f["path"], int(f["size"]), tuple(f["blocks"])) for f in data.pop("files"))
        return Manifest(files=files, **data)
    except ManifestError:
        raise
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ManifestError(f"it cannot be read ({error})") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ManifestError("it lacks what a manifest has, or has something else in its place") from error


def damage(directory: Path, files: Iterable[FileEntry], *, hashes: bool) -> list[str]:
    """Return a line for every listed file that is missing, has another size or (``hashes``) other content."""
    return [
        f"`{entry.path}` {problem}" for entry in files if (problem := _problem(directory / entry.path, entry, hashes))
    ]


def _problem(path: Path, entry: FileEntry, hashes: bool) -> str | None:
    try:
        size = path.stat().st_size
        if size != entry.size:
            return f"has {size} bytes and not {entry.size}"
        if hashes and hash_blocks(path) != entry.blocks:
            return "has changed since it was written"
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None
