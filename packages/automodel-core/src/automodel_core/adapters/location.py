"""Where a model is: a directory on this machine, or a repository of the Hugging Face hub."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError

from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_CONFIGURATION = ("*.json",)
_WEIGHTS = ("*.safetensors",)
_OTHERS = ("*.py", "*.model", "*.txt", "*.jinja", "*.tiktoken")


def model_directory(name_or_path: str | os.PathLike[str], *, revision: str | None, weights: bool) -> Path:
    """Return the directory of the model. A path on this machine is used as it is, without network.

    What looks like a path and is absent is an error and not looked up elsewhere. ``org/name`` is a hub id, fetched (or
    found in the cache) without weights unless ``weights``; a name without a slash is only looked up in the cache,
    because it is more often a mistyped directory. Raises :class:`InputError`.
    """
    given = os.fspath(name_or_path)
    path = Path(given).expanduser()
    if path.is_dir():
        return path
    if path.exists():
        raise InputError(
            Diagnostic(
                "AM401",
                f"`name_or_path` is `{given}`, which is a file and not the directory of a model",
                helps=("name its directory",),
            )
        )
    if _looks_like_a_path(given, path):
        raise _no_directory(given, path)
    return _from_hub(given, revision, weights)


_HOW_TO = ("give the path of a directory with a `config.json`, or a model id of the Hugging Face hub: `org/name`",)
_TIMEOUT_SECONDS: Final = 5.0


def _no_directory(given: str, path: Path) -> InputError:
    siblings = [entry.name for entry in path.parent.iterdir() if entry.is_dir()] if path.parent.is_dir() else []
    helps = did_you_mean(path.name, siblings) or _HOW_TO
    return InputError(Diagnostic("AM401", f"`name_or_path` is `{given}`, and there is no such directory", helps=helps))


def _looks_like_a_path(given: str, path: Path) -> bool:
    if given.startswith((".", "~", os.sep)) or _HUB_ID.fullmatch(given) is None:
        return True
    return len(path.parts) > 1 and Path(path.parts[0]).is_dir()


def _from_hub(model_id: str, revision: str | None, weights: bool) -> Path:
    patterns = [*_CONFIGURATION, *(_WEIGHTS if weights else ()), *_OTHERS]
    cached_only = "/" not in model_id
    try:
        return Path(
            snapshot_download(
                model_id,
                revision=revision,
                allow_patterns=patterns,
                etag_timeout=_TIMEOUT_SECONDS,
                local_files_only=cached_only,
            )
        )
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise InputError(
            Diagnostic(
                "AM401",
                f"`name_or_path` is `{model_id}`: neither a directory here nor a model of the Hugging Face hub",
                helps=(*_HOW_TO, "a private or gated model needs `hf auth login`"),
            )
        ) from error
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        if cached_only:
            raise _no_directory(model_id, Path(model_id)) from error
        raise InputError(
            Diagnostic(
                "AM409",
                f"`name_or_path` is `{model_id}`: not a directory here, and the Hugging Face hub cannot be reached",
                helps=("copy the model to a directory and name that, or check the network",),
            )
        ) from error
