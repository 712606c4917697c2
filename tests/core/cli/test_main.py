"""The command line from words to exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from automodel_core import __version__
from automodel_core.cli import main
from automodel_core.cli.command_line import CommandLine
from automodel_core.cli.routing import find_route
from automodel_core.cli.tools import TOOLS
from automodel_core.errors import InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.domains import RESERVED_COMMANDS

InstallPlugin = Callable[..., Path]

AUDIO = """
    from automodel_core.hookspecs import hookimpl
    from automodel_core.specs import Route

    @hookimpl
    def routes():
        return [Route("finetune", "audio", "audio_plugin", "Fine-tune an audio model.", aliases=("sound",))]

    def main(config_path, overrides=(), plugins=(), plugin_files=()):
        print("ran", config_path, list(overrides), list(plugin_files))
        {end}
"""


@pytest.fixture
def audio(install_plugin: InstallPlugin) -> Callable[[str], Path]:
    """Return a function that installs a domain whose recipe ends as the given statement says."""
    return lambda end: install_plugin("audio", AUDIO.format(end=end))


def test_help_lists_what_plugins_bring(audio: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    audio("return 0")
    assert main(["--help"]) == 0
    top = capsys.readouterr().out
    assert "finetune audio Fine-tune an audio model." in " ".join(top.split())
    assert "finetune llm" in top
    assert "plugins list" in top

    assert main(["finetune", "--help"]) == 0
    assert "finetune audio Fine-tune an audio model." in " ".join(capsys.readouterr().out.split())

    for words in (["finetune", "audio", "--help"], ["finetune", "sound", "-c", "x.yaml", "-h"]):
        assert main(words) == 0
        text = capsys.readouterr().out
        assert "usage: automodel finetune audio -c CFG" in text
        assert "plugin `audio` (automodel-audio 1.0)" in text


def test_no_words_at_all_is_wrong_input_and_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: automodel")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"automodel {__version__}\n"


def test_a_route_calls_its_recipe_with_what_was_given(
    audio: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    audio("return 75")
    words = ["finetune", "sound", "--a.b", "1", "-c", "x.yaml", "--plugin", "h.py", "~c"]
    assert main(words) == 75
    assert capsys.readouterr().out == "ran x.yaml ['--a.b', '1', '~c'] ['h.py']\n"


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        ("return None", 0, ""),
        (
            "import automodel_core as am; raise am.InputError(am.Diagnostic('AM301', 'no `text` column'))",
            2,
            "no `text` column",
        ),
        (
            "from automodel_core import RunFailedError; raise RunFailedError('the loss is nan')",
            1,
            "error: the loss is nan",
        ),
        ("from automodel_core import PluginError; raise PluginError('bad')", 2, "error: bad"),
        ("raise KeyboardInterrupt", 130, "interrupted"),
    ],
)
def test_a_failure_on_purpose_has_its_exit_code_and_no_traceback(
    audio: Callable[[str], Path], capsys: pytest.CaptureFixture[str], end: str, code: int, said: str
) -> None:
    audio(end)
    assert main(["finetune", "audio", "-c", "x.yaml"]) == code
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_an_unexpected_failure_shows_the_traceback_and_its_notes(
    audio: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    audio("e = RuntimeError('ours'); e.add_note('in hook `x`'); raise e")
    assert main(["finetune", "audio", "-c", "x.yaml"]) == 1
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert "RuntimeError: ours\nin hook `x`" in error


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err


def test_an_unknown_command_suggests_and_lists(
    audio: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    audio("return 0")
    error = refusal(capsys, "finetun", "audio")
    assert "unknown command `finetun`" in error
    assert "did you mean `finetune`?" in error
    assert "`finetune audio`" in error
    assert "did you mean `plugins`" in refusal(capsys, "plugin", "list")


def test_an_unknown_domain_suggests_and_lists(audio: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    audio("return 0")
    error = refusal(capsys, "finetune", "audoi", "-c", "x.yaml")
    assert "`finetune` has no domain `audoi`" in error
    assert "did you mean `audio`?" in error
    assert "needs a domain" in refusal(capsys, "finetune", "-c", "x.yaml")
    assert "`audio` has `automodel finetune audio`" in refusal(capsys, "pretrain", "audio")


def test_a_domain_of_ours_that_is_not_installed_says_what_to_install() -> None:
    with pytest.raises(InputError, match="`vlm` is not installed") as caught:
        find_route(Catalog([]), CommandLine(("finetune", "vlm", "-c", "x.yaml")))
    assert caught.value.diagnostics[0].helps == ("pip install automodel-vlm",)


def test_a_domain_of_ours_that_is_switched_off_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOMODEL_DISABLE_PLUGINS", "llm")
    error = refusal(capsys, "finetune", "llm", "-c", "x.yaml")
    assert "`llm` is switched off" in error
    assert "AUTOMODEL_DISABLE_PLUGINS" in error


def test_a_run_without_a_config_says_how_to_give_one(
    audio: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    audio("return 0")
    assert "`automodel finetune audio -c CFG`" in refusal(capsys, "finetune", "audio", "a.b=1")


def test_a_route_to_a_module_that_is_not_there_names_the_plugin(
    install_plugin: InstallPlugin, capsys: pytest.CaptureFixture[str]
) -> None:
    install_plugin("audio", AUDIO.format(end="return 0").replace('"audio_plugin"', '"not_there.recipe"'))
    error = refusal(capsys, "finetune", "audio", "-c", "x.yaml")
    assert "plugin `audio` (automodel-audio 1.0) names `not_there.recipe`" in error


def test_a_recipe_module_whose_own_import_is_missing_keeps_its_traceback(
    install_plugin: InstallPlugin, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = install_plugin("audio", AUDIO.format(end="return 0").replace('"audio_plugin"', '"audio_recipe"'))
    (directory / "audio_recipe.py").write_text("import a_library_that_is_not_there\n")
    assert main(["finetune", "audio", "-c", "x.yaml"]) == 1
    error = capsys.readouterr().err
    assert "No module named 'a_library_that_is_not_there'" in error
    assert "while importing `audio_recipe` for route `finetune audio` of plugin `audio`" in error


def test_a_recipe_module_without_main_names_the_plugin(
    install_plugin: InstallPlugin, capsys: pytest.CaptureFixture[str]
) -> None:
    install_plugin("audio", AUDIO.format(end="return 0").replace("def main", "def other"))
    assert "which has no `main`" in refusal(capsys, "finetune", "audio", "-c", "x.yaml")


def test_a_broken_plugin_is_named_and_help_still_works(
    install_plugin: InstallPlugin, capsys: pytest.CaptureFixture[str]
) -> None:
    install_plugin("bad", "raise RuntimeError('no licence')")
    assert main(["--help"]) == 0
    captured = capsys.readouterr()
    assert "finetune llm" in captured.out
    assert "plugin `bad` (automodel-bad 1.0) is broken" in captured.err
    assert "no licence" in captured.err
    assert "Traceback" not in captured.err


def test_a_plugin_that_breaks_after_its_routes_is_named_before_the_run(
    install_plugin: InstallPlugin, audio: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, although it is asked several times."""
    audio("return 0")
    install_plugin(
        "late",
        "from automodel_core.hookspecs import hookimpl\n@hookimpl\ndef targets():\n    raise RuntimeError('late')\n",
    )
    install_plugin("bad", "raise RuntimeError('no licence')")
    assert main(["finetune", "audio", "-c", "x.yaml"]) == 0
    error = capsys.readouterr().err
    assert error.count("plugin `late` (automodel-late 1.0) is broken") == 1
    assert error.count("plugin `bad` (automodel-bad 1.0) is broken") == 1


def test_strict_plugins_fail_the_command_with_the_same_text(
    install_plugin: InstallPlugin, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install_plugin("bad", "raise RuntimeError('no licence')")
    monkeypatch.setenv("AUTOMODEL_STRICT_PLUGINS", "1")
    assert "plugin `bad` (automodel-bad 1.0) is broken" in refusal(capsys, "--help")


def test_plugins_list_shows_each_with_its_state(
    install_plugin: InstallPlugin, audio: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    audio("return 0")
    install_plugin("bad", "raise RuntimeError('no licence')")
    assert main(["plugins", "list", "--json"]) == 0
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert listed["audio"]["status"] == "ok"
    assert listed["audio"]["hooks"] == ["routes"]
    assert listed["bad"]["status"] == "broken"
    assert listed["bad"]["distribution"] == "automodel-bad"
    assert "no licence" in listed["bad"]["error"]

    assert main(["plugins", "list"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["audio", "automodel-audio", "1.0", "ok", "routes"] in rows
    assert ["bad", "automodel-bad", "1.0", "broken", "-"] in rows


def test_plugins_list_shows_who_answers_a_hook(
    install_plugin: InstallPlugin, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks = """
        from automodel_core.hookspecs import hookimpl

        @hookimpl{options}
        def build_optimizer():
            yield
    """
    install_plugin("wraps", hooks.format(options="(wrapper=True)"))
    install_plugin("answers", hooks.format(options=""))
    assert main(["plugins", "list", "--hook", "build_optimizer"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "wraps  (installed plugin, wrapper)",
        "answers  (installed plugin)",
        "automodel_core.training.defaults  (core)",
    ]
    assert main(["plugins", "list", "--hook", "build_optimizer", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {"plugin": "wraps", "layer": "installed plugin", "wrapper": True}
    assert "did you mean `build_optimizer`?" in refusal(capsys, "plugins", "list", "--hook", "build_optimiser")


def test_a_tool_says_what_it_wants(capsys: pytest.CaptureFixture[str]) -> None:
    assert "usage: automodel plugins" in refusal(capsys, "plugins")
    assert "unrecognized arguments: --jsn" in refusal(capsys, "plugins", "list", "--jsn")
    assert "did you mean `validate`?" in refusal(capsys, "config", "valdate", "x.yaml")


def test_every_tool_is_out_of_reach_for_plugins() -> None:
    assert set(TOOLS) <= RESERVED_COMMANDS


@pytest.mark.parametrize(
    "words", [["--help"], ["finetune", "--help"], ["finetune", "llm", "--help"], ["plugins", "list"]]
)
def test_nothing_heavy_is_imported_for(words: list[str]) -> None:
    program = (
        "import sys; from automodel_core.cli import main; code = main(sys.argv[1:]);"
        "heavy = {'torch', 'transformers', 'numpy', 'yaml', 'cattrs'} & set(sys.modules);"
        "sys.exit(f'imported {sorted(heavy)}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_reader_that_leaves_early_ends_the_command_quietly() -> None:
    """As in ``automodel --help | head -1``."""
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [sys.executable, "-m", "automodel_core", "--help"], stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (141, "")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_failure_and_no_other_file_takes_its_place(
    audio: Callable[[str], Path], tmp_path: Path, closed: str
) -> None:
    """Print with streams closed while a file is open: it must stay empty."""
    audio("import os; kept = open('kept.txt', 'w'); os.write(1, b'spilt'); os.write(2, b'spilt'); kept.close()")
    command = f"{sys.executable} -m automodel_core finetune audio -c x.yaml {closed}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "kept.txt").read_text() == ""


def test_an_interrupted_command_exits_as_shells_expect(audio: Callable[[str], Path]) -> None:
    audio("import time; time.sleep(30)")
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "automodel_core", "finetune", "audio", "-c", "x.yaml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("ran")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, "interrupted\n")


def test_the_project_file_of_the_current_directory_counts(
    install_plugin: InstallPlugin,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install_plugin("bad", "raise RuntimeError")
    (tmp_path / "automodel.toml").write_text('disable = ["bad"]\n')
    monkeypatch.chdir(tmp_path)
    assert main(["--help"]) == 0
    assert capsys.readouterr().err == ""
    (tmp_path / "automodel.toml").write_text("disable = bad\n")
    assert "not valid TOML" in refusal(capsys, "--help")
