"""What an installed plugin does wrong while a config is validated is said with its name, and never as a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from automodel_core.cli import main
from automodel_core.config.schemas import load_schema

InstallPlugin = Callable[..., Path]
IMPORTS = "import attrs\nfrom automodel_core.hookspecs import hookimpl\nfrom automodel_core.specs import *\n"
SECTION = """
@hookimpl
def sections():
    return (SectionSpec("audio", "{}", "Windows and bins."),)
"""
CONFIG = """\
model: {_target_: NeMoAutoModelForCausalLM.from_pretrained, name_or_path: some/model}
dataset: {_target_: SquadDataset, path: squad}
optimizer: {_target_: torch.optim.AdamW, lr: 1.0e-3}
"""


def declares(hook: str, body: str) -> str:
    return f"{IMPORTS}\n@hookimpl\ndef {hook}():\n    {body}\n"


SET_ASIDE = {
    "fails on import": ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
    "leaves on import": ("import sys\nsys.exit(3)", "SystemExit: 3"),
    "routes": (declares("routes", "raise KeyError('x')"), "`routes` raised KeyError"),
    "recipes": (declares("recipes", "raise KeyError('x')"), "`recipes` raised KeyError"),
    "models": (declares("models", "raise KeyError('x')"), "`models` raised KeyError"),
    "targets": (declares("targets", "raise KeyError('x')"), "`targets` raised KeyError"),
    "sections": (declares("sections", "raise KeyError('x')"), "`sections` raised KeyError"),
    "a path that is none": (
        declares("targets", "return [KeyAlias('a..b', 'rng.seed')]"),
        "`a..b` is not a dotted path",
    ),
    "no such module": (IMPORTS + SECTION.format("not_there:Audio"), "raised ModuleNotFoundError"),
    "no such class": (IMPORTS + SECTION.format("audio_plugin:Audio"), "raised AttributeError"),
    "no class of attrs": (IMPORTS + SECTION.format("pathlib:Path"), "must be an attrs class"),
    "no reference": (IMPORTS + SECTION.format("audio"), "raised"),
}


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "cfg.yaml"
    path.write_text(CONFIG)
    load_schema.cache_clear()  # the plugin of one test has the name of the next one's
    yield path
    load_schema.cache_clear()


@pytest.mark.parametrize(("source", "reason"), SET_ASIDE.values(), ids=SET_ASIDE)
def test_a_plugin_that_fails_is_named_and_the_config_is_still_checked(
    source: str, reason: str, config: Path, install_plugin: InstallPlugin, capsys: pytest.CaptureFixture[str]
) -> None:
    install_plugin("audio", source)

    assert main(["config", "validate", str(config), "--json"]) == 0

    captured = capsys.readouterr()
    assert json.loads(captured.out)["valid"] is True
    assert "plugin `audio` (automodel-audio 1.0) is broken and was set aside" in captured.err
    assert reason in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("source", [source for source, _ in SET_ASIDE.values()], ids=SET_ASIDE)
def test_strict_plugins_make_it_an_error(
    source: str,
    config: Path,
    install_plugin: InstallPlugin,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install_plugin("audio", source)
    monkeypatch.setenv("AUTOMODEL_STRICT_PLUGINS", "1")

    assert main(["config", "validate", str(config)]) == 2

    assert "error: plugin `audio` (automodel-audio 1.0)" in capsys.readouterr().err


CHECKS = {
    "a validator": ("size: int = attrs.field(default=1, validator=lambda i, a, v: {}[v])", "raised KeyError: 3"),
    "after the values": (
        "size: int = 1\n    def __attrs_post_init__(self):\n        if self.size == 3: raise TypeError('odd')",
        "raised TypeError: odd",
    ),
}


@pytest.mark.parametrize(("body", "reason"), CHECKS.values(), ids=CHECKS)
def test_a_schema_that_fails_on_a_value_is_named_with_the_place(
    body: str, reason: str, config: Path, install_plugin: InstallPlugin, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = f"\n@attrs.frozen\nclass Audio:\n    {body}\n"
    install_plugin("audio", IMPORTS + schema + SECTION.format("audio_plugin:Audio"))
    config.write_text(CONFIG + "audio: {size: 3}\n")

    assert main(["config", "validate", str(config)]) == 2

    said = capsys.readouterr().err
    assert (
        f"error: plugin `audio` (automodel-audio 1.0): the schema `audio_plugin:Audio` of the section `audio` {reason}"
        in said
    )
    assert f"{config}:4:" in said
    assert "Traceback" not in said


def test_the_process_says_the_same(config: Path, install_plugin: InstallPlugin) -> None:
    install_plugin("audio", SET_ASIDE["no such module"][0])
    words = [sys.executable, "-m", "automodel_core", "config", "validate", str(config)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (0, f"{config}: valid\n")
    assert "plugin `audio`" in done.stderr
    assert "Traceback" not in done.stderr
