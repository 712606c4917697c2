"""Where a model is: a directory on this machine, or a repository of the Hugging Face hub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.model_files.place import HOW_TO_NAME, no_directory, place_problem

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
    problem = place_problem(given)
    if problem is not None:
        raise InputError(problem)
    return _from_hub(given, revision, weights)


_TIMEOUT_SECONDS: Final = 5.0


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
                helps=(*HOW_TO_NAME, "a private or gated model needs `hf auth login`"),
            )
        ) from error
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        if cached_only:
            raise InputError(no_directory(model_id, Path(model_id))) from error
        raise InputError(
            Diagnostic(
                "AM409",
                f"`name_or_path` is `{model_id}`: not a directory here, and the Hugging Face hub cannot be reached",
                helps=("copy the model to a directory and name that, or check the network",),
            )
        ) from error
