"""The packages as wheels: complete, and each usable with only what it depends on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.name for path in (ROOT / "packages").iterdir() if (path / "pyproject.toml").is_file())

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=cwd, env=environment, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build every package, as a release would, without a network."""
    directory = tmp_path_factory.mktemp("wheels")
    for package in PACKAGES:
        source = ROOT / "packages" / package
        run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", directory, source, cwd=directory)
    return {path.name.split("-")[0].replace("_", "-"): path for path in directory.glob("*.whl")}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Third-party libraries of this environment, and nothing of ours."""
    directory = tmp_path_factory.mktemp("shared")
    for scheme in {"purelib", "platlib"}:
        for entry in Path(sysconfig.get_path(scheme)).iterdir():
            ours = entry.name.startswith(("automodel", "_automodel", "__editable__")) or entry.suffix == ".pth"
            if not ours and not (directory / entry.name).exists():
                (directory / entry.name).symlink_to(entry)
    return directory


@attrs.frozen
class Environment:
    """A fresh environment with the wheels of core and one domain, whose command is ``finetune <domain>``."""

    domain: str
    domains: frozenset[str]
    directory: Path

    def program(self, name: str) -> Path:
        return self.directory / "venv" / "bin" / name


DOMAINS = {"llm": {"llm"}, "vlm": {"vlm", "llm"}, "diffusion": {"diffusion"}, "retrieval": {"retrieval"}}
"""Each domain, and the domains that its wheel brings with it."""


@pytest.fixture(scope="module", params=DOMAINS)
def environment(
    request: pytest.FixtureRequest, wheels: dict[str, Path], shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    directory = tmp_path_factory.mktemp(request.param)
    venv.create(directory / "venv", symlinks=True)
    made = Environment(request.param, frozenset(DOMAINS[request.param]), directory)
    python = made.program("python")
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=directory).strip()
    (Path(site) / "shared.pth").write_text(f"{shared}\n")
    chosen = [wheels["automodel-core"], *(wheels[f"automodel-{domain}"] for domain in sorted(made.domains))]
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index")
    run(*pip, *chosen, cwd=directory)
    return made


def test_every_package_is_built(wheels: dict[str, Path]) -> None:
    assert sorted(wheels) == PACKAGES


@pytest.mark.parametrize("package", PACKAGES)
def test_a_wheel_has_everything_of_its_package_and_nothing_else(wheels: dict[str, Path], package: str) -> None:
    module = package.replace("-", "_")
    source = ROOT / "packages" / package / "src"
    expected = {
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }
    with zipfile.ZipFile(wheels[package]) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    content = {name for name in names if ".dist-info/" not in name}
    assert content == expected
    assert f"{module}/py.typed" in content
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert "License-Expression: Apache-2.0" in metadata


def test_core_and_a_domain_bring_the_routes_of_that_domain_and_of_no_other(environment: Environment) -> None:
    text = run(environment.program("automodel"), "--help", cwd=environment.directory)
    routes = [line.split()[:2] for line in text.partition("commands:\n")[2].partition("\n\n")[0].splitlines()]
    assert ["finetune", environment.domain] in routes
    assert {domain for _, domain in routes} == environment.domains
    listed = run(environment.program("automodel"), "plugins", "list", "--json", cwd=environment.directory)
    found = {plugin["name"]: plugin["status"] for plugin in json.loads(listed)}
    assert found == dict.fromkeys(environment.domains, "ok")


def test_what_runs_there_comes_from_the_wheels(environment: Environment) -> None:
    module = f"automodel_{environment.domain}"
    program = f"import automodel_core, {module}; print(automodel_core.__file__, {module}.__file__)"
    files = run(environment.program("python"), "-c", program, cwd=environment.directory).split()
    assert all(Path(file).is_relative_to(environment.directory / "venv") for file in files)


def test_the_recipe_of_a_route_can_be_imported_there(environment: Environment) -> None:
    """Nothing outside the wheels and their dependencies is needed up to the point where a config is read."""
    done = subprocess.run(
        [environment.program("automodel"), "finetune", environment.domain, "-c", "missing.yaml"],
        capture_output=True,
        text=True,
        cwd=environment.directory,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "missing.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_versions_are_in_lockstep() -> None:
    import tomli

    projects = [tomli.loads((ROOT / "packages" / name / "pyproject.toml").read_text())["project"] for name in PACKAGES]
    versions = {project["version"] for project in projects}
    assert len(versions) == 1
    (version,) = versions
    siblings = [d for project in projects for d in project["dependencies"] if d.startswith("automodel-")]
    assert siblings
    assert all(dependency.endswith(f"=={version}") for dependency in siblings)

    import automodel_core

    assert automodel_core.__version__ == version
