"""Finding checkpoints: names, pointers, and the error when one cannot be used."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

import attrs

from automodel_core.checkpoint.manifest import MANIFEST, Manifest, ManifestError, damage, read_manifest
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.errors import InputError

LATEST: Final = "latest"
_STEP = re.compile(r"step-(\d+)")


@attrs.frozen
class Checkpoint:
    """A complete checkpoint on disk."""

    path: Path
    manifest: Manifest

    @property
    def state(self) -> Path:
        """The directory of the run's state."""
        return self.path / "state"


def step_directory(directory: Path, step: int) -> Path:
    """Return where the checkpoint of ``step`` lies below ``directory``."""
    return directory / f"step-{step}"


def complete_steps(directory: Path) -> list[int]:
    """Return the steps of the complete checkpoints below ``directory``, in order."""
    if not directory.is_dir():
        return []
    matches = ((_STEP.fullmatch(p.name), p) for p in directory.iterdir())
    return sorted(int(m[1]) for m, p in matches if m and (p / MANIFEST).is_file())


def remove_leftovers(directory: Path) -> list[str]:
    """Delete what an interrupted save left below ``directory`` and return the names.

    A save that was killed between its two renames has set the old checkpoint aside; that one is put back.
    """
    removed = []
    for path in sorted(directory.glob(".step-*")):
        final = directory / path.name[1:].rsplit(".", 1)[0]
        if path.suffix == ".replaced" and not final.exists() and (path / MANIFEST).is_file():
            path.rename(final)
        elif path.suffix in (".partial", ".replaced") and path.is_dir():
            shutil.rmtree(path)
            removed.append(path.name)
    return removed


def open_checkpoint(path: str | Path, *, span: Span | None = None, default_directory: Path | None = None) -> Checkpoint:
    """Return the checkpoint that ``path`` names: a ``step-N`` directory, a directory of them, or ``latest``.

    Raises :class:`InputError` when there is none, when it is incomplete or when a file is missing or truncated.
    """
    asked = Path(path)
    if str(path) == LATEST and default_directory is not None and not asked.exists():
        asked = default_directory
    found = _follow_latest(asked)
    if not found.is_dir():
        raise InputError(_not_found(asked, span))
    try:
        manifest = read_manifest(found)
    except FileNotFoundError:
        raise InputError(_no_manifest(found, span)) from None
    except (ManifestError, OSError) as error:
        message = f"the manifest of `{found}` is unusable: {error}"
        raise InputError(Diagnostic("AM503", message, span, helps=_others(found))) from None
    problems = damage(found, manifest.files, hashes=False)
    if problems:
        message = f"the checkpoint `{found}` is damaged: " + "; ".join(problems[:5])
        raise InputError(Diagnostic("AM504", message, span, helps=_others(found)))
    return Checkpoint(found, manifest)


def _follow_latest(asked: Path) -> Path:
    pointer = asked / LATEST
    if (asked / MANIFEST).is_file() or not asked.is_dir():
        return asked
    if pointer.is_file():
        return asked / pointer.read_text(encoding="utf-8").strip()
    steps = complete_steps(asked)
    return step_directory(asked, steps[-1]) if steps else asked


def _not_found(asked: Path, span: Span | None) -> Diagnostic:
    return Diagnostic("AM501", f"there is no checkpoint at `{asked}`", span, helps=_others(asked))


def _no_manifest(found: Path, span: Span | None) -> Diagnostic:
    message = f"`{found}` is not a complete checkpoint: it has no `{MANIFEST}`"
    helps = _others(found)
    if (found / "config.json").is_file():
        helps = ("to start from the weights of a model directory, name it in `model.name_or_path`", *helps)
    return Diagnostic("AM502", message, span, helps=helps)


def _others(asked: Path) -> tuple[str, ...]:
    home = asked if complete_steps(asked) else asked.parent
    steps = complete_steps(home)
    if not steps:
        return ()
    return (f"complete checkpoints in `{home}`: " + ", ".join(f"`step-{s}`" for s in steps[-8:]),)
