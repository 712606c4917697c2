"""Python and the packages around us, read from their metadata: nothing is imported."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import Final

import attrs

from automodel_core.doctor.finding import Finding


@attrs.frozen
class Package:
    """A package that may be missing, and what is missed without it."""

    name: str
    without: str
    install: str = ""
    needed: bool = False
    """Whether the usual runs cannot do without it."""

    @property
    def command(self) -> str:
        return f"pip install {self.install or self.name}"


PACKAGES: Final = (
    Package("safetensors", "no weights can be read or written", needed=True),
    Package("transformers", "no model of the Hugging Face hub", "'automodel-core[transformers]'", needed=True),
    Package("peft", "adapters are written all the same; only peft's own tools are missing"),
    Package("pyarrow", "no Parquet data"),
    Package("datasets", "no data sets of the Hugging Face hub"),
    Package("matplotlib", "no `loss.png` at the end of a run"),
    Package("tensorboard", "no `logging.tensorboard`"),
    Package("wandb", "no `logging.wandb`"),
    Package("mlflow", "no `logging.mlflow`"),
    Package("trackio", "no `logging.trackio`"),
)

_MINIMUM = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*(?P<version>[0-9.]+)")


def python_version() -> Finding:
    """Tell which Python runs."""
    return Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")


def package_findings() -> Iterator[Finding]:
    """Tell the version of each package that matters, and what is missed without one that is not there."""
    for package in PACKAGES:
        yield package_finding(package, installed_version(package.name))


def package_finding(package: Package, version: str | None) -> Finding:
    """A package that is needed is missed; without another one a run is complete, so that this is no warning."""
    if version is not None:
        return Finding(package.name, "ok", version)
    status = "fail" if package.needed else "ok"
    return Finding(package.name, status, f"not installed: {package.without}", package.command)  # type: ignore[arg-type]


def requirements() -> Iterator[Finding]:
    """Compare what is installed with the versions that automodel-core asks for."""
    declared = metadata.requires("automodel-core") or ()
    yield requirements_finding(declared, {name: installed_version(name) for name, _ in minimums(declared)})


def requirements_finding(declared: Iterable[str], installed: dict[str, str | None]) -> Finding:
    """Fail when a package is older than what is declared; one that is missing is told elsewhere."""
    asked = list(minimums(declared))
    present = [(name, version, installed[name]) for name, version in asked if installed[name] is not None]
    old = [(name, version, have) for name, version, have in present if have and _numbers(have) < _numbers(version)]
    if not old:
        return Finding("requirements", "ok", f"{len(present)} packages are new enough for automodel-core")
    message = ", ".join(f"{name} {have} is older than {version}" for name, version, have in old)
    return Finding("requirements", "fail", message, "pip install -U " + " ".join(f"'{n}>={v}'" for n, v, _ in old))


def minimums(declared: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, version) of each requirement with a lowest version, extras included."""
    for requirement in declared:
        found = _MINIMUM.match(requirement)
        if found is not None:
            yield found["name"], found["version"]


def installed_version(name: str) -> str | None:
    """Return the version of a distribution, or ``None``. A build with fewer parts under another name counts."""
    for distribution in (name, f"{name}-skinny"):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def _numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, without trailing zeros: ``2.10.0+cpu`` is (2, 10)."""
    found = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
