"""Targets that lie in a Python file: ``./my_data.py:MyDataset``, the path relative to the file that names it."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

import attrs

from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.errors import InputError

_FILE_TARGET: Final = re.compile(r"(?P<path>.+\.py):(?P<attribute>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")


@attrs.frozen
class FileTarget:
    """``attribute``, dotted, of the Python file at ``path``."""

    path: Path
    attribute: str


def file_target(target: str) -> FileTarget | None:
    """Return the file and the name that a target spells, or ``None`` for one of another form."""
    match = _FILE_TARGET.fullmatch(target)
    return None if match is None else FileTarget(Path(match["path"]), match["attribute"])


def placed_target(target: str, span: Span | None) -> str:
    """Return ``target`` with the whole path of its file, when it has one.

    A path is relative to the directory of the config that it is written in; one of the command line or of Python to
    the current directory.
    """
    found = file_target(target)
    if found is None:
        return target
    written_in = written_file(span)
    directory = Path() if written_in is None else written_in.parent
    return f"{(directory / found.path.expanduser()).resolve()}:{found.attribute}"


def written_file(span: Span | None) -> Path | None:
    """Return the file that a place is in, as it was named; ``None`` for the command line and for Python."""
    return None if span is None or span.source.startswith("<") else Path(span.source)


def missing_file(target: FileTarget, span: Span | None) -> Diagnostic | None:
    """Return that there is no such file, when there is none."""
    if target.path.is_file():
        return None
    directory = target.path.parent
    helps = did_you_mean(target.path.name, (path.name for path in directory.glob("*.py"))) if directory.is_dir() else ()
    return Diagnostic("AM205", f"there is no file `{target.path}`", span, "not there", helps)


def import_file(target: FileTarget, span: Span | None) -> ModuleType:
    """Import the file of a target that may be imported, once.

    Raises:
        InputError: AM205 when its code raises, or ends the process.
    """
    digest = hashlib.sha256(str(target.path).encode()).hexdigest()[:8]
    # A name of its own, kept in sys.modules so that what is defined in the file can be pickled.
    name = f"automodel_target_file_{re.sub(r'[^a-zA-Z0-9_]', '_', target.path.stem)}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, target.path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        message = f"`{target.path}` cannot be imported: {type(error).__name__}: {error}"
        raise InputError(Diagnostic("AM205", message, span, "not importable")) from error
    return module
