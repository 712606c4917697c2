"""What can be said of the place of a model without importing anything heavy: is it there, has it a configuration."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError

HOW_TO_NAME: Final = (
    "give the path of a directory with a `config.json`, or a model id of the Hugging Face hub: `org/name`",
)
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")


def place_problem(given: str) -> Diagnostic | None:
    """Return AM401 when ``given`` can only be a path and is no directory here."""
    path = Path(given).expanduser()
    if path.is_dir():
        return None
    if path.exists():
        message = f"`name_or_path` is `{given}`, which is a file and not the directory of a model"
        return Diagnostic("AM401", message, helps=("name its directory",))
    return no_directory(given, path) if _looks_like_a_path(given, path) else None


def no_directory(given: str, path: Path) -> Diagnostic:
    """Return what is said of a directory that does not exist."""
    siblings = [entry.name for entry in path.parent.iterdir() if entry.is_dir()] if path.parent.is_dir() else []
    helps = did_you_mean(path.name, siblings) or HOW_TO_NAME
    return Diagnostic("AM401", f"`name_or_path` is `{given}`, and there is no such directory", helps=helps)


def read_config_json(directory: Path) -> dict[str, Any]:
    """Return what ``config.json`` of ``directory`` says. Raises :class:`InputError` (AM402) when it cannot be read."""
    path = directory / "config.json"
    if not path.is_file():
        helps = ("name a directory that `save_pretrained` wrote",)
        raise InputError(Diagnostic("AM402", f"`{directory}` has no `config.json`", helps=helps))
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(Diagnostic("AM402", f"`{path}` is not valid JSON: {error}")) from error
    if not isinstance(content, dict):
        raise InputError(Diagnostic("AM402", f"`{path}` does not hold a JSON object"))
    return content


def _looks_like_a_path(given: str, path: Path) -> bool:
    if given.startswith((".", "~", os.sep)) or _HUB_ID.fullmatch(given) is None:
        return True
    return len(path.parts) > 1 and Path(path.parts[0]).is_dir()
