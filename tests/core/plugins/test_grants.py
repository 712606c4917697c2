"""What the user vouches for, and what a project file cannot: a config that may have come with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from automodel_core.cli import main
from automodel_core.config import build_component, load_run_config
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.grants import TRUST_VARIABLE, read_grants, trusting
from automodel_core.plugins.project_file import check_project_plugins

PART = """\
from pathlib import Path
from subprocess import run
from textwrap import dedent

Path(__file__ + ".imported").touch()


class Part:
    def __init__(self, size, deep=False):
        self.size = size

    @classmethod
    def twice(cls, size):
        return cls(2 * size)


class Model:
    Inner = Part
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a config, and a file with the target that it names, in which the user works."""
    directory = tmp_path / "project"
    (directory / "configs").mkdir(parents=True)
    (directory / "granted_part.py").write_text(PART)
    (directory / "configs" / "cfg.yaml").write_text("loss_fn:\n  _target_: ../granted_part.py:Part\n  size: 3\n")
    (directory / "configs" / "dotted.yaml").write_text("loss_fn:\n  _target_: granted_part.Part\n  size: 3\n")
    monkeypatch.chdir(directory)
    monkeypatch.syspath_prepend(str(directory))
    monkeypatch.delitem(sys.modules, "granted_part", raising=False)
    return directory


def found(config: str | Path, *words: str, trust: tuple[str, ...] = ()) -> tuple[Diagnostic, ...]:
    """Load the config and build its loss; return what is wrong."""
    try:
        with trusting(trust):
            vocabulary = Catalog.discover().vocabulary()
            loaded = load_run_config(config, words, vocabulary, required=())
            build_component(loaded.loss_fn, vocabulary)
    except InputError as error:
        return error.diagnostics
    return ()


def imported(project: Path) -> bool:
    return (project / "granted_part.py.imported").exists() or "granted_part" in sys.modules


def test_a_file_target_that_nobody_vouches_for_is_not_imported(project: Path) -> None:
    (refused,) = found("configs/cfg.yaml")
    assert refused.span is not None
    assert (refused.code, refused.span.line, refused.span.column) == ("AM203", 2, 13)
    assert refused.message == "`granted_part.py` is not trusted, so it was not imported"
    assert refused.helps == ("if you know what is in it, add `--trust ./granted_part.py`",)
    assert not imported(project)


@pytest.mark.parametrize("config", ["configs/cfg.yaml", "configs/dotted.yaml"])
def test_a_project_file_beside_a_config_cannot_vouch_for_it(config: str, project: Path) -> None:
    (project / "automodel.toml").write_text('trusted = ["granted_part", "granted_part.py"]\n')
    (refused,) = found(config)
    assert refused.code == "AM203"
    assert not imported(project)
    assert found(config, trust=(".",)) == ()


def test_a_link_does_not_lead_a_config_out_of_the_directory(project: Path, tmp_path: Path) -> None:
    (project / "automodel.toml").write_text('trusted = ["granted_part"]\n')
    outside = tmp_path / "outside.yaml"
    (project / "configs" / "dotted.yaml").rename(outside)
    (project / "link.yaml").symlink_to(outside)
    (tmp_path / "link.yaml").symlink_to(project / "moved.yaml")
    (project / "moved.yaml").write_text(outside.read_text())
    assert [problem.code for problem in found("link.yaml")] == ["AM203"]
    assert [problem.code for problem in found("../link.yaml")] == ["AM203"]
    assert not imported(project)


def test_a_project_file_vouches_for_configs_from_elsewhere_and_for_the_command_line(
    project: Path, tmp_path: Path
) -> None:
    (project / "automodel.toml").write_text('trusted = ["granted_part", "granted_part.py"]\n')
    (tmp_path / "cfg.toml").write_text('[loss_fn]\n_target_ = "project/granted_part.py:Part"\nsize = 3\n')
    (tmp_path / "dotted.yaml").write_text("loss_fn: {_target_: granted_part.Part, size: 3}")
    assert found("../cfg.toml") == ()
    assert found("../dotted.yaml") == ()
    assert found("configs/cfg.yaml", "loss_fn._target_=granted_part.Part.twice") == ()
    assert found("configs/cfg.yaml", "loss_fn._target_=granted_part.py:Part.twice") == ()


def test_a_base_beside_the_project_file_is_not_vouched_for_either(project: Path, tmp_path: Path) -> None:
    (project / "automodel.toml").write_text('trusted = ["granted_part"]\n')
    (tmp_path / "top.yaml").write_text("extends: project/configs/dotted.yaml\n")
    (refused,) = found("../top.yaml")
    assert refused.code == "AM203"
    assert "cannot vouch for a config that came with it" in refused.helps[-1]
    assert "`--trust granted_part`" in refused.helps[-1]


@pytest.mark.parametrize("trust", ["./granted_part.py", "granted_part.py", "../project/granted_part.py"])
def test_the_user_vouches_for_a_file(trust: str, project: Path) -> None:
    assert found("configs/cfg.yaml", trust=(trust,)) == ()
    assert [problem.code for problem in found("configs/dotted.yaml", trust=(trust,))] == ["AM203"]


def test_the_environment_vouches_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRUST_VARIABLE, os.pathsep.join(["somewhere", "granted_part"]))
    assert found("configs/dotted.yaml") == ()
    assert [problem.code for problem in found("configs/cfg.yaml")] == ["AM203"]


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("../granted_part.py:run", "AM204"),
        ("../granted_part.py:dedent", "AM203"),
        ("../granted_part.py:Path.home", "AM203"),
        ("../granted_part.py:Part.__init__", "AM204"),
        ("../granted_part.py:Prat", "AM205"),
        ("../granted_prat.py:Part", "AM205"),
        ("../granted_part.py:", "AM202"),
        ("../granted_part.py", "AM202"),
    ],
)
def test_a_trusted_file_does_not_vouch_for_what_it_imports(target: str, code: str, project: Path) -> None:
    (project / "configs" / "cfg.yaml").write_text(f"loss_fn: {{_target_: '{target}'}}")
    assert [problem.code for problem in found("configs/cfg.yaml", trust=("granted_part.py",))] == [code]


def test_nobody_can_vouch_for_what_is_never_allowed(project: Path) -> None:
    (project / "configs" / "cfg.yaml").write_text("loss_fn: {_target_: os.system, command: 'true'}")
    assert [problem.code for problem in found("configs/cfg.yaml", trust=("os",))] == ["AM204"]


def test_arguments_of_a_file_target_are_checked_from_its_source(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "configs" / "cfg.yaml").write_text(
        "model: {_target_: tiny.M}\ndataset: {_target_: '../granted_part.py:Part', sise: 3}\n"
    )
    assert main(["config", "validate", "configs/cfg.yaml", "--trust", "granted_part.py"]) == 2
    said = capsys.readouterr().err
    assert "has no argument `sise` [AM207]" in said
    assert "configs/cfg.yaml:2:48" in said
    assert not imported(project)


def test_a_file_that_fails_says_how(project: Path) -> None:
    (project / "granted_part.py").write_text("1 / 0\n")
    (problem,) = found("configs/cfg.yaml", trust=("granted_part.py",))
    assert problem.code == "AM205"
    assert problem.message.endswith("granted_part.py` cannot be imported: ZeroDivisionError: division by zero")


def test_plugins_of_a_project_file_beside_the_config_are_not_loaded(project: Path, tmp_path: Path) -> None:
    (project / "automodel.toml").write_text('plugins = ["granted_part.py"]\n')
    settings = Catalog.discover().settings.project
    with pytest.raises(InputError) as raised:
        check_project_plugins(settings, Path("configs/cfg.yaml"))
    (refused,) = raised.value.diagnostics
    assert refused.code == "AM613"
    assert "`--trust .`" in refused.helps[0]
    check_project_plugins(settings, tmp_path / "elsewhere.yaml")
    check_project_plugins(settings, None)
    with trusting(["."]):
        check_project_plugins(settings, Path("configs/cfg.yaml"))


def test_words_that_name_nothing_are_refused_together(project: Path) -> None:
    with pytest.raises(InputError) as raised:
        read_grants(["granted_prat.py", "../nowhere", "not a name", "fine.module"])
    assert [problem.code for problem in raised.value.diagnostics] == ["AM614"] * 3
    assert raised.value.diagnostics[0].helps == ("did you mean `granted_part.py`?",)


def test_what_is_vouched_for_ends_with_the_block(project: Path) -> None:
    with trusting(["granted_part.py"]):
        assert Catalog.discover().trusted_files == {project / "granted_part.py": None}
    assert Catalog.discover().trusted_files == {}
