"""The project file: ``[tool.automodel]`` in the current directory's ``pyproject.toml``, or ``automodel.toml`` there.

Only the directory the user works in counts. A file beside a config does not: a config that was downloaded with a
directory could otherwise vouch for itself. Where the two are one, and for configs below it, what the file trusts and
what it loads count only when the user names the directory himself (``--trust .``, or ``AUTOMODEL_TRUST``).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from automodel_core.config.containment import lies_in
from automodel_core.diagnostics.diagnostic import Diagnostic, Span
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import InputError
from automodel_core.plugins.grants import TRUST_VARIABLE, granted

FILE_NAME: Final = "automodel.toml"
TABLE: Final = "tool.automodel"
_KEYS: Final = ("disable", "plugins", "trusted")


@attrs.frozen
class ProjectFile:
    """``disable`` plugins, load the files ``plugins``, and trust the module prefixes ``trusted`` as targets."""

    path: Path | None = None
    disable: tuple[str, ...] = ()
    plugins: tuple[Path, ...] = ()
    trusted: tuple[str, ...] = ()
    """Modules, and Python files relative to the project file."""

    @property
    def directory(self) -> Path | None:
        """Where the file lies, whole."""
        return None if self.path is None else self.path.resolve().parent


def check_project_plugins(project: ProjectFile, config: Path | None) -> None:
    """Raise :class:`InputError`, AM613, when the project file has plugins and cannot vouch for ``config``."""
    directory = project.directory
    if not project.plugins or directory is None or config is None or granted().include(directory):
        return
    if lies_in(config, directory):
        assert project.path is not None
        message = f"the plugins of `{project.path.name}` are not loaded: `{config}` may have come with it"
        helps = (f"if both are yours, add `--trust {_shown(directory)}`, or set {TRUST_VARIABLE}={directory}",)
        raise InputError(Diagnostic("AM613", message, _span_of(project.path, "plugins"), "not loaded", helps))


def _shown(directory: Path) -> str:
    return "." if directory == Path.cwd() else str(directory)


def read_project_file(directory: Path) -> ProjectFile:
    """Return what the project file of ``directory`` says; nothing when there is none.

    ``automodel.toml`` is read when it exists, otherwise the table of ``pyproject.toml``. Raise :class:`InputError` for
    a file that is no TOML, an unknown key, or a value that is not a list of strings.
    """
    own = directory / FILE_NAME
    if own.is_file():
        return _project_file(own, _read_toml(own))
    shared = directory / "pyproject.toml"
    # Most projects' pyproject.toml says nothing to us: parse it only when it does.
    if not shared.is_file() or TABLE not in _read_text(shared):
        return ProjectFile()
    table: Any = _read_toml(shared)
    for part in TABLE.split("."):
        table = table.get(part, {})
    return _project_file(shared, table)


def _project_file(path: Path, table: Mapping[str, Any]) -> ProjectFile:
    problems = []
    for key, value in table.items():
        if key not in _KEYS:
            message = f"unknown key `{key}` in the project file"
            problems.append(
                Diagnostic("AM610", message, _span_of(path, key), helps=did_you_mean(key, _KEYS) or (_known_keys(),))
            )
        elif not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            message = f"`{key}` of the project file must be a list of strings"
            problems.append(Diagnostic("AM610", message, _span_of(path, key), helps=(f'write `{key} = ["..."]`',)))
    if problems:
        raise InputError(problems)
    return ProjectFile(
        path=path,
        disable=tuple(table.get("disable", ())),
        plugins=tuple(path.parent / file for file in table.get("plugins", ())),
        trusted=tuple(table.get("trusted", ())),
    )


def _known_keys() -> str:
    return "the keys are " + ", ".join(f"`{key}`" for key in _KEYS)


def _read_toml(path: Path) -> dict[str, Any]:
    import tomli

    text = _read_text(path)
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        line, column = error.lineno, error.colno
        span = Span(str(path), line, column, column + 1, _line(text, line))
        raise InputError(Diagnostic("AM610", "the project file is not valid TOML", span, error.msg)) from error


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(Diagnostic("AM610", f"cannot read the project file `{path}`: {error}")) from error


def _span_of(path: Path, key: str) -> Span:
    """Return the place where ``key`` is set; the first line of the file when it is written in an unusual way."""
    text = _read_text(path)
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.lstrip()
        if bare.startswith((key, f'"{key}"', f"'{key}'")):
            column = len(line) - len(bare) + 1
            return Span(str(path), number, column, column + len(key), line)
    return Span(str(path), 1, 1, 2, _line(text, 1))


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""
