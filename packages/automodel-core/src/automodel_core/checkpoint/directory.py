"""Finding checkpoints: names, and the error when one cannot be used.

A directory stands for its newest complete step. The pointer ``latest`` says the same to people and scripts and is not
read here: a run killed before it wrote the pointer has saved nevertheless. That the newest step is the right one is
kept true by whoever starts a branch: a run that goes on from step N in the same directory, and a new run that may
overwrite, first set the later steps aside as ``abandoned-step-M-K``. Nothing of them is deleted.
"""

from __future__ import annotations

import itertools
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


def set_aside_after(directory: Path, step: int) -> list[Path]:
    """Rename the complete checkpoints of later steps than ``step`` and return where they are now.

    The newest goes first, so that whatever a crash leaves is a run that stood at an earlier step.
    """
    moved = []
    for later in reversed([s for s in complete_steps(directory) if s > step]):
        names = (directory / f"abandoned-step-{later}-{k}" for k in itertools.count(1))
        aside = next(path for path in names if not path.exists())
        moved.append(step_directory(directory, later).rename(aside))
    return moved


def remove_leftovers(directory: Path) -> list[str]:
    """Delete what an interrupted save or retention left below ``directory`` and return the names.

    A save that was killed between its two renames has set the old checkpoint aside; that one is put back.
    """
    removed = []
    for path in sorted(directory.glob(".step-*")):
        final = directory / path.name[1:].rsplit(".", 1)[0]
        if path.suffix == ".replaced" and not final.exists() and (path / MANIFEST).is_file():
            path.rename(final)
        elif path.suffix in (".partial", ".replaced", ".expired") and path.is_dir():
            shutil.rmtree(path)
            removed.append(path.name)
    return removed


def open_checkpoint(
    path: str | Path, *, span: Span | None = None, default_directory: Path | None = None, hashes: bool = False
) -> Checkpoint:
    """Return the checkpoint that ``path`` names: a ``step-N`` directory, a directory of them, or its ``latest``.

    Raises :class:`InputError` when there is none, when it is incomplete, when a file is missing or truncated or, with
    ``hashes``, has other content than was written.
    """
    asked = Path(path)
    if str(path) == LATEST and default_directory is not None and not asked.exists():
        asked = default_directory
    elif asked.name == LATEST and not asked.is_dir():
        asked = asked.parent
    found = _newest(asked)
    if not found.is_dir():
        raise InputError(_not_found(asked, span))
    try:
        manifest = read_manifest(found)
    except FileNotFoundError:
        raise InputError(_no_manifest(found, span)) from None
    except (ManifestError, OSError) as error:
        message = f"the manifest of `{found}` is unusable: {error}"
        raise InputError(Diagnostic("AM503", message, span, helps=_others(found))) from None
    problems = damage(found, manifest.files, hashes=hashes)
    if problems:
        message = f"the checkpoint `{found}` is damaged: " + "; ".join(problems[:5])
        raise InputError(Diagnostic("AM504", message, span, helps=_others(found)))
    return Checkpoint(found, manifest)


def _newest(asked: Path) -> Path:
    if (asked / MANIFEST).is_file():
        return asked
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
