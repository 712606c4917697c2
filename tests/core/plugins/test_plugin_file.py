"""``--plugin file.py``: hooks from a file, and clear words when the file is wrong."""

from __future__ import annotations

import pickle
import textwrap
from pathlib import Path

import pytest

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError, PluginError
from automodel_core.plugins import Catalog, Layer, PluginSettings, RunHost, run_host
from automodel_core.plugins.project_file import ProjectFile

HOOK = """
    from automodel_core.hookspecs import hookimpl

    @hookimpl
    def build_loss_fn():
        return {answer!r}
"""


def write(path: Path, source: str) -> Path:
    path.write_text(textwrap.dedent(source))
    return path


def host_of(*files: Path) -> RunHost:
    return run_host(None, plugin_files=files, core_plugins=[])


def refusal(*files: Path) -> tuple[Diagnostic, ...]:
    with pytest.raises(InputError) as caught:
        host_of(*files)
    return caught.value.diagnostics


def test_the_functions_of_a_file_answer(tmp_path: Path) -> None:
    file = write(tmp_path / "hooks.py", HOOK.format(answer="file"))
    assert host_of(file).maybe("build_loss_fn", config=None) == "file"


def test_the_later_file_answers_first(tmp_path: Path) -> None:
    first = write(tmp_path / "a.py", HOOK.format(answer="a"))
    second = write(tmp_path / "b.py", HOOK.format(answer="b"))
    assert host_of(first, second).maybe("build_loss_fn", config=None) == "b"
    assert host_of(second, first).maybe("build_loss_fn", config=None) == "a"


def test_the_objects_in_plugins_are_registered(tmp_path: Path) -> None:
    file = write(
        tmp_path / "hooks.py",
        """
        from automodel_core.hookspecs import hookimpl

        class Hooks:
            def __init__(self, answer):
                self.answer = answer
            @hookimpl
            def build_loss_fn(self):
                return self.answer

        plugins = [Hooks("from an object")]
        """,
    )
    host = host_of(file)
    assert host.maybe("build_loss_fn", config=None) == "from an object"
    assert [entry.plugin for entry in host.call_order("build_loss_fn")] == ["hooks.py:Hooks"]


def test_a_file_of_the_project_and_of_the_command_line_counts_once_in_the_higher_layer(tmp_path: Path) -> None:
    file = write(tmp_path / "hooks.py", HOOK.format(answer="file"))
    catalog = Catalog([], PluginSettings(project=ProjectFile(plugins=(file,))))
    host = run_host(None, catalog=catalog, plugin_files=[file], core_plugins=[])
    assert [entry.layer for entry in host.call_order("build_loss_fn")] == [Layer.PLUGIN_FILE]
    alone = run_host(None, catalog=catalog, core_plugins=[])
    assert [entry.layer for entry in alone.call_order("build_loss_fn")] == [Layer.PROJECT]


def test_what_a_file_defines_can_be_pickled(tmp_path: Path) -> None:
    """Data workers receive the dataset by pickle."""
    file = write(
        tmp_path / "hooks.py",
        HOOK.format(answer="x") + "\n    class Data:\n        pass\n\n    @hookimpl\n    def build_model():\n"
        "        return Data()\n",
    )
    data = host_of(file).build("build_model", config=None)
    assert type(pickle.loads(pickle.dumps(data))) is type(data)


def test_a_missing_file_suggests_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path / "my_hooks.py", "")
    (problem,) = refusal(tmp_path / "my_hook.py")
    assert problem.code == "AM611"
    assert problem.helps == ("did you mean `my_hooks.py`?",)


def test_every_bad_file_is_told_at_once(tmp_path: Path) -> None:
    assert len(refusal(tmp_path / "a.py", tmp_path / "b.py")) == 2


def test_a_syntax_error_has_its_place(tmp_path: Path) -> None:
    (problem,) = refusal(write(tmp_path / "bad.py", "x = 1\ndef broken(:\n"))
    assert problem.span is not None
    assert problem.span.line == 2
    assert problem.span.text == "def broken(:"


def test_an_exception_while_importing_has_the_line_of_the_file(tmp_path: Path) -> None:
    """The innermost line of the file itself, not of the library in which it was raised."""
    (problem,) = refusal(write(tmp_path / "bad.py", "import json\n\nvalue = json.loads('{')\n"))
    assert problem.span is not None
    assert problem.span.line == 3
    assert problem.span.text == "value = json.loads('{')"
    assert "JSONDecodeError" in problem.message


def test_a_file_that_leaves_is_refused(tmp_path: Path) -> None:
    (problem,) = refusal(write(tmp_path / "bad.py", "import sys\nsys.exit(0)\n"))
    assert "SystemExit" in problem.message


def test_a_file_without_hooks_is_refused(tmp_path: Path) -> None:
    (problem,) = refusal(write(tmp_path / "empty.py", "x = 1\n"))
    assert problem.code == "AM612"


def test_a_file_whose_function_lacks_the_decorator_says_so(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="`build_model` has the name of a hook but no `@hookimpl`"):
        host_of(write(tmp_path / "plain.py", "def build_model(config):\n    return None\n"))


def test_plugins_must_be_a_list(tmp_path: Path) -> None:
    (problem,) = refusal(write(tmp_path / "bad.py", "plugins = 3\n"))
    assert "must be a list" in problem.message


def test_a_function_imported_into_a_file_is_not_taken_for_an_undecorated_hook(tmp_path: Path) -> None:
    source = "from dataclasses import replace as build_model\n" + textwrap.dedent(HOOK.format(answer="mine"))
    assert host_of(write(tmp_path / "hooks.py", source)).maybe("build_loss_fn", config=None) == "mine"
