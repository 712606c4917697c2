"""What is needed to show help, list plugins and check a config costs no heavy import."""

from __future__ import annotations

import subprocess
import sys

import pytest

DOMAINS = ("llm", "vlm", "diffusion", "retrieval")
LIGHT_ROOMS = ("cli", "plugins", "config", "preflight", "model_files", "diagnostics", "hookspecs")

IMPORT_ALL = """
import importlib, pkgutil, sys

def walk(name):
    module = importlib.import_module(name)
    yield name
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if found.name != "__main__" and f"{name}.{found.name}" not in SKIPPED:
            yield from walk(f"{name}.{found.name}")
"""


def python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("room", LIGHT_ROOMS)
def test_a_light_room_imports_nothing_heavy(room: str) -> None:
    done = python(
        f"SKIPPED = set()\n{IMPORT_ALL}\nnames = list(walk('automodel_core.{room}'))\n"
        "print(len(names), *{'torch', 'transformers', 'numpy'} & set(sys.modules))"
    )
    assert done.returncode == 0, done.stderr
    count, *heavy = done.stdout.split()
    assert int(count) > 1
    assert heavy == []


@pytest.mark.parametrize("name", ["automodel_core", "automodel_core.specs", "automodel_core.errors"])
def test_the_top_of_core_imports_next_to_nothing(name: str) -> None:
    done = python(f"import sys, {name}; print(*{{'torch', 'pluggy', 'yaml', 'cattrs'}} & set(sys.modules))")
    assert done.stdout.split() == [], done.stderr


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_declares_without_importing_anything_heavy(domain: str) -> None:
    done = python(
        f"import sys, importlib, importlib.util\nimportlib.import_module('automodel_{domain}.plugin')\n"
        f"if importlib.util.find_spec('automodel_{domain}.config'):\n"
        f"    importlib.import_module('automodel_{domain}.config')\n"
        "print(*{'torch', 'transformers', 'numpy', 'yaml'} & set(sys.modules))"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_core_works_without_transformers() -> None:
    """Every module outside ``adapters`` can be imported where the library is not installed."""
    done = python(
        "import sys\n"
        "for name in ('transformers', 'peft', 'diffusers'):\n    sys.modules[name] = None\n"
        f"SKIPPED = {{'automodel_core.adapters'}}\n{IMPORT_ALL}\nprint(len(list(walk('automodel_core'))))"
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


def test_every_public_name_can_be_imported() -> None:
    program = "import automodel_core as am\nassert set(am.__all__) <= set(dir(am))\n"
    done = python(program + "for name in am.__all__:\n    getattr(am, name)")
    assert done.returncode == 0, done.stderr
