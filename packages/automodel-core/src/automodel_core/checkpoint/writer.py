"""Saving a run: everything under a hidden name, then the manifest, then one rename."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import attrs
from safetensors import SafetensorError

from automodel_core import __version__
from automodel_core.checkpoint.availability import is_step_of, latest_is_a_directory, not_writable, other_run
from automodel_core.checkpoint.config import CheckpointConfig
from automodel_core.checkpoint.directory import (
    LATEST,
    complete_steps,
    remove_leftovers,
    set_aside_after,
    step_directory,
)
from automodel_core.checkpoint.durable import publish_directory, remove_directory, replace_text, sync_file, sync_tree
from automodel_core.checkpoint.lock import DirectoryLock, DirectoryLockedError, lock_directory
from automodel_core.checkpoint.manifest import MANIFEST, Manifest, describe_files
from automodel_core.checkpoint.retention import expired_steps
from automodel_core.checkpoint.run_files import SavedState, write_state
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError, RunFailedError


@attrs.define
class CheckpointWriter:
    """Writes the checkpoints of one run into ``config.directory``, which no other run may write to meanwhile."""

    config: CheckpointConfig
    _lock: DirectoryLock | None = None

    def prepare(self, *, resuming_from: Path | None) -> list[str]:
        """Lock the directory, make it ready, and return the names of leftovers that were removed.

        Raises :class:`InputError` when another run is writing to it, when it cannot be written, or when it holds
        another run's checkpoints and this run neither resumes from one of them nor may overwrite. The lock is not held
        then.
        """
        home = self.config.directory
        try:
            pointer = latest_is_a_directory(home)
            if pointer is not None:
                raise IsADirectoryError(0, pointer)
            home.mkdir(parents=True, exist_ok=True)
            self._lock = lock_directory(home)
            removed = remove_leftovers(home)
        except DirectoryLockedError:
            raise InputError(_is_being_written(home)) from None
        except OSError as error:
            self.close()
            raise InputError(not_writable(home, str(error.strerror))) from None
        problem = other_run(home, overwrite=self.config.overwrite, resuming_from=resuming_from)
        if problem is not None:
            self.close()
            raise InputError(problem)
        return removed

    def start(self, step: int, *, resuming_from: Path | None) -> list[Path]:
        """Make ``step``, where the run begins, the newest one, and return where later checkpoints were set aside to.

        A crash before the first save then resumes from where this run began, not from a branch that it left. A run
        that began elsewhere sets every checkpoint aside. Called when nothing is left that could refuse the run.
        """
        home = self.config.directory
        here = is_step_of(home, resuming_from)
        moved = set_aside_after(home, step if here else -1)
        if here:
            replace_text(home / LATEST, step_directory(home, step).name + "\n")
        elif moved:
            (home / LATEST).unlink(missing_ok=True)
            sync_file(home)
        return moved

    def close(self) -> None:
        """Let other runs write to the directory. Doing so twice is fine."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def save(self, state: SavedState, write_model: Callable[[Path], None]) -> Path:
        """Write the checkpoint of the step that ``state`` stands at and return its directory.

        ``write_model`` writes the weights and the files beside them into the directory it is given. Raises
        :class:`RunFailedError` when the disk refuses; checkpoints written before are untouched then.
        """
        step = int(state.progress["step"])
        final = step_directory(self.config.directory, step)
        partial = final.with_name(f".{final.name}.partial")
        try:
            partial.mkdir(parents=True)
            write_model(partial)
            write_state(state, partial / "state")
            sync_tree(partial)
            self._write_manifest(partial, step, int(state.progress["epoch"]))
            publish_directory(partial, final)
            replace_text(self.config.directory / LATEST, final.name + "\n")
        except (OSError, SafetensorError) as error:
            shutil.rmtree(partial, ignore_errors=True)
            raise RunFailedError(
                f"the checkpoint of step {step} could not be written to `{self.config.directory}`: {error}; "
                f"checkpoints written before it are untouched. Free space and go on with `--restore_from.path latest`"
            ) from error
        self._retain(step)
        return final

    def _write_manifest(self, partial: Path, step: int, epoch: int) -> None:
        manifest = Manifest(step, epoch, 1, {"dp": 1}, __version__, describe_files(partial))
        (partial / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")

    def _retain(self, newest: int) -> None:
        steps = complete_steps(self.config.directory)
        for step in expired_steps(steps, self.config.keep_last, keep=(newest,)):
            remove_directory(step_directory(self.config.directory, step))


def _is_being_written(home: Path) -> Diagnostic:
    return Diagnostic(
        "AM512",
        f"another run is writing to `{home}`",
        helps=("wait until it ends or stop it", "or name another `checkpoint.directory`"),
    )
