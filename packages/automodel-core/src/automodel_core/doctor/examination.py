"""Running every check, so that one that breaks is a finding of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from automodel_core.doctor.finding import Finding
from automodel_core.doctor.installation import package_findings, python_version, requirements
from automodel_core.doctor.machine import memory, processors
from automodel_core.doctor.plugin_state import plugin_findings
from automodel_core.doctor.storage import cache_findings, checkpoint_space, hub_access
from automodel_core.doctor.torch_build import bfloat16, devices, torch_version
from automodel_core.plugins import Catalog, Owned
from automodel_core.plugins.installed import describe_exception, quiet_stdout
from automodel_core.specs import DoctorCheck

CORE: Final = "automodel-core"

Check = Callable[[], Finding | Iterable[Finding]]


@attrs.frozen
class Examined:
    """A finding and who made it: ``owner`` is the core or a plugin with its distribution."""

    owner: str
    finding: Finding


def examine(catalog: Catalog, checkpoint_directory: Path) -> Iterator[Examined]:
    """Yield what the core's checks find, then those of the plugins, each as soon as it is known."""
    for name, check in core_checks(catalog, checkpoint_directory).items():
        yield from (Examined(CORE, finding) for finding in run_check(name, check, CORE))
    for name, owned in catalog.doctor_checks.items():
        found = run_check(name, partial(_call_target, owned), owned.owner)
        yield from (Examined(owned.owner, finding) for finding in found)


def core_checks(catalog: Catalog, checkpoint_directory: Path) -> Mapping[str, Check]:
    """Return the core's own checks by name, in their order."""
    return {
        "python": python_version,
        "torch": torch_version,
        "devices": devices,
        "bf16": bfloat16,
        "processors": processors,
        "memory": memory,
        "checkpoints": partial(checkpoint_space, checkpoint_directory),
        "caches": cache_findings,
        "hub": hub_access,
        "requirements": requirements,
        "packages": package_findings,
        "plugins": partial(plugin_findings, catalog),
    }


def run_check(name: str, check: Check, owner: str) -> tuple[Finding, ...]:
    """Return what ``check`` finds; when it raises or answers with something else, that it did and whose it is."""
    try:
        with quiet_stdout():
            answer = check()
            findings = (answer,) if isinstance(answer, Finding) else tuple(answer)
    except Exception as error:
        return (_broken(name, owner, f"raised {describe_exception(error)}"),)
    wrong = [finding for finding in findings if not isinstance(finding, Finding)]
    if wrong:
        return (_broken(name, owner, f"returned a `{type(wrong[0]).__name__}`, not a `Finding`"),)
    return findings


def _broken(name: str, owner: str, what: str) -> Finding:
    return Finding(name, "fail", f"the check of {owner} {what}", f"report it to the authors of {owner}")


def _call_target(owned: Owned[DoctorCheck]) -> Any:
    module, _, attribute = owned.spec.target.partition(":")
    return getattr(importlib.import_module(module), attribute)()
