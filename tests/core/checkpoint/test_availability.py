"""Whether a run may write to a checkpoint directory, decided without writing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from automodel_core.checkpoint.availability import directory_problem
from automodel_core.checkpoint.config import CheckpointConfig
from automodel_core.checkpoint.manifest import Manifest
from automodel_core.checkpoint.writer import CheckpointWriter
from automodel_core.errors import InputError


def checkpoint(home: Path, step: int) -> Path:
    place = home / f"step-{step}"
    place.mkdir(parents=True)
    (place / "manifest.json").write_text(Manifest(step, 0, 1, {"dp": 1}, "0", ()).to_json())
    return place


def said(home: Path, resuming_from: Path | None = None, *, overwrite: bool = False) -> str | None:
    """Return the code of the decision, after comparing it with what the writer itself says."""
    problem = directory_problem(home, overwrite=overwrite, resuming_from=resuming_from)
    writer = CheckpointWriter(CheckpointConfig(home, overwrite=overwrite))
    if problem is None:
        writer.prepare(resuming_from=resuming_from)
        writer.close()
        return None
    with pytest.raises(InputError) as error:
        writer.prepare(resuming_from=resuming_from)
    assert [d.message for d in error.value.diagnostics] == [problem.message]
    return problem.code


def test_a_new_directory_at_any_depth_is_fine(tmp_path: Path) -> None:
    assert directory_problem(tmp_path / "a" / "b", overwrite=False, resuming_from=None) is None
    assert list(tmp_path.iterdir()) == []
    assert said(tmp_path / "a" / "b") is None


def test_another_run_is_not_overwritten_unasked(tmp_path: Path) -> None:
    home = tmp_path / "run"
    step = checkpoint(home, 4)
    assert said(home) == "AM506"
    assert said(home, step) is None
    assert said(home, checkpoint(tmp_path / "other", 4)) == "AM506"
    assert said(home, overwrite=True) is None


@pytest.mark.parametrize("below", ["file", "file/run", "file/a/b"])
def test_a_file_in_the_way_is_said(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("")
    assert said(tmp_path / below) == "AM505"


def test_a_pointer_that_is_a_directory_is_said(tmp_path: Path) -> None:
    (tmp_path / "run" / "latest").mkdir(parents=True)
    assert said(tmp_path / "run") == "AM505"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_parent_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    assert said(tmp_path / "closed" / "run") == "AM505"
