"""The environment and the project file switch plugins off and vouch for targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_core.errors import InputError
from automodel_core.plugins import PluginSettings


def load(directory: Path, **environment: str) -> PluginSettings:
    return PluginSettings.load(environment, directory)


def test_nothing_said_is_nothing_set(tmp_path: Path) -> None:
    assert load(tmp_path) == PluginSettings()


@pytest.mark.parametrize(("value", "strict"), [("1", True), ("true", True), ("0", False), ("", False), ("no", False)])
def test_strict_is_read_from_the_environment(tmp_path: Path, value: str, strict: bool) -> None:
    assert load(tmp_path, AUTOMODEL_STRICT_PLUGINS=value).strict is strict


def test_disabled_names_come_from_both_places(tmp_path: Path) -> None:
    (tmp_path / "automodel.toml").write_text('disable = ["c"]\n')
    assert load(tmp_path, AUTOMODEL_DISABLE_PLUGINS=" a, b ,").disabled == {"a", "b", "c"}


def test_the_table_of_pyproject_is_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.automodel]\ntrusted = ["mine"]\nplugins = ["hooks/a.py"]\n')
    project = load(tmp_path).project
    assert project.trusted == ("mine",)
    assert project.plugins == (tmp_path / "hooks/a.py",)


def test_automodel_toml_stands_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.automodel]\ndisable = ["a"]\n')
    (tmp_path / "automodel.toml").write_text('disable = ["b"]\n')
    assert load(tmp_path).disabled == {"b"}


def test_a_pyproject_that_says_nothing_to_us_is_not_even_parsed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("this is = not [toml")
    assert load(tmp_path).project.path is None


def test_every_mistake_in_the_project_file_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "automodel.toml").write_text('disabled = ["a"]\ntrusted = "mine"\n')
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    first, second = caught.value.diagnostics
    assert "unknown key `disabled`" in first.message
    assert first.helps == ("did you mean `disable`?",)
    assert first.span is not None
    assert (first.span.line, first.span.column) == (1, 1)
    assert "`trusted` of the project file must be a list of strings" in second.message
    assert second.span is not None
    assert second.span.line == 2


def test_a_project_file_that_is_no_toml_says_where(tmp_path: Path) -> None:
    (tmp_path / "automodel.toml").write_text('disable = ["a"]\ntrusted = [\n')
    with pytest.raises(InputError, match="not valid TOML") as caught:
        load(tmp_path)
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert span.source.endswith("automodel.toml")
