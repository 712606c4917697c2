"""Real installed plugins for tests: a module and the metadata of a distribution, in a directory on the path."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

InstallPlugin = Callable[..., Path]


def write_distribution(
    directory: Path, name: str, source: str, *, distribution: str | None = None, version: str = "1.0"
) -> None:
    """Write the module ``<name>_plugin`` and the installed metadata of its distribution into ``directory``."""
    distribution = distribution or f"automodel-{name}"
    (directory / f"{name}_plugin.py").write_text(textwrap.dedent(source), encoding="utf-8")
    information = directory / f"{distribution.replace('-', '_')}-{version}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    (information / "entry_points.txt").write_text(f"[automodel.plugins]\n{name} = {name}_plugin\n")


@pytest.fixture
def install_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InstallPlugin]:
    """Return a function that installs a plugin module by its source, for this process and its children."""
    directory = tmp_path / "installed"
    directory.mkdir()
    monkeypatch.syspath_prepend(str(directory))
    monkeypatch.setenv("PYTHONPATH", str(directory))
    installed: list[str] = []

    def install(name: str, source: str, **options: str) -> Path:
        write_distribution(directory, name, source, **options)
        installed.append(f"{name}_plugin")
        return directory

    yield install
    for module in installed:
        sys.modules.pop(module, None)
