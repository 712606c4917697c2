"""Assets: downloaded by name, checked by hash, converted once, published whole."""

from __future__ import annotations

import hashlib
import multiprocessing
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from automodel_core.assets.store import fetch_asset, fetched_directory
from automodel_core.cache import asset_directory, cache_directory
from automodel_core.config import load_run_config
from automodel_core.errors import InputError
from automodel_core.specs import AssetSpec, AssetWheel

CONVERTER = """
import zipfile
def convert(wheels, directory):
    with open({log!r}, "a") as log:
        log.write("converted\\n")
    if {fails!r}:
        raise RuntimeError("conversion broke")
    (directory / "data.txt").write_bytes(zipfile.ZipFile(wheels["tinyasset"]).read("tinyasset/data.txt"))
"""


def make_wheel(directory: Path) -> Path:
    path = directory / "tinyasset-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tinyasset/data.txt", "payload")
        wheel.writestr("tinyasset-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tinyasset\nVersion: 1.0\n")
        tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr("tinyasset-1.0.dist-info/WHEEL", tag)
        wheel.writestr("tinyasset-1.0.dist-info/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A directory that pip takes for its only index, with one wheel; a cache; a converter on the path."""
    links = tmp_path / "links"
    links.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setenv("AUTOMODEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    make_wheel(links)
    return links


def spec(
    tmp_path: Path, index: Path, *, name: str = "tiny", sha256: str | None = None, fails: bool = False
) -> AssetSpec:
    module = f"converter_{name}_{fails}_{tmp_path.name}".replace("-", "_")
    log = str(tmp_path / "log")
    (tmp_path / f"{module}.py").write_text(CONVERTER.format(log=log, fails=fails))
    if sha256 is None:
        sha256 = hashlib.sha256((index / "tinyasset-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    wheel = AssetWheel("tinyasset==1.0", sha256)
    return AssetSpec(name, "A tiny asset", "CC0", (wheel,), f"{module}:convert")


def conversions(tmp_path: Path) -> int:
    log = tmp_path / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_it_is_fetched_converted_once_and_kept_with_its_licence(tmp_path, index):
    asset = spec(tmp_path, index)
    assert fetched_directory(asset) is None
    directory = fetch_asset(asset)
    assert (directory / "data.txt").read_text() == "payload"
    assert (directory / "LICENCE.txt").read_text() == "CC0\n"
    assert directory == asset_directory("tiny") == fetched_directory(asset)
    (index / "tinyasset-1.0-py3-none-any.whl").unlink()
    assert fetch_asset(asset) == directory
    assert conversions(tmp_path) == 1


def test_another_hash_is_refused_and_nothing_is_kept(tmp_path, index):
    with pytest.raises(InputError, match="does not have the SHA-256") as error:
        fetch_asset(spec(tmp_path, index, sha256="0" * 64))
    assert error.value.diagnostics[0].code == "AM361"
    assert conversions(tmp_path) == 0
    assert not asset_directory("tiny").exists()


def test_without_an_index_the_error_says_what_could_not_be_had(tmp_path, index):
    asset = spec(tmp_path, index)
    (index / "tinyasset-1.0-py3-none-any.whl").unlink()
    with pytest.raises(InputError, match=r"`tinyasset==1\.0` could not be downloaded") as error:
        fetch_asset(asset)
    assert error.value.diagnostics[0].code == "AM360"


def test_a_conversion_that_failed_is_done_again_without_downloading(tmp_path, index):
    with pytest.raises(RuntimeError, match="conversion broke"):
        fetch_asset(spec(tmp_path, index, fails=True))
    asset = spec(tmp_path, index)
    assert fetched_directory(asset) is None
    (index / "tinyasset-1.0-py3-none-any.whl").unlink()
    assert (fetch_asset(asset) / "data.txt").exists()


def test_a_damaged_download_is_fetched_again(tmp_path, index):
    asset = spec(tmp_path, index)
    fetch_asset(asset)
    (wheel,) = (cache_directory() / "downloads").rglob("*.whl")
    wheel.write_bytes(b"damaged")
    other = spec(tmp_path, index, name="other")
    assert (fetch_asset(other) / "data.txt").read_text() == "payload"


def _fetch(asset: AssetSpec) -> str:
    return str(fetch_asset(asset))


def test_two_processes_at_once_convert_once(tmp_path, index):
    asset = spec(tmp_path, index)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert len(set(pool.map(_fetch, [asset, asset]))) == 1
    assert conversions(tmp_path) == 1


def test_a_config_names_an_asset_by_reference(tmp_path, index):
    fetch_asset(spec(tmp_path, index))
    config = {
        "model": {"_target_": "torch.nn.Linear"},
        "dataset": {"_target_": "torch.nn.Linear", "path": "${asset:tiny}/data.txt"},
        "optimizer": {"_target_": "AdamW"},
    }
    assert load_run_config(config).dataset.kwargs["path"] == str(asset_directory("tiny") / "data.txt")
    config["dataset"]["path"] = "${asset:absent}"
    with pytest.raises(InputError, match="the asset `absent` is not on this machine") as error:
        load_run_config(config)
    assert "`automodel assets fetch absent`" in error.value.diagnostics[0].helps


def test_the_command_lists_fetches_and_finds(tmp_path):
    """Only listing needs no network: the real assets of the llm domain are there."""
    run = [sys.executable, "-m", "automodel_core", "assets"]
    listed = subprocess.run([*run, "list"], capture_output=True, text=True, check=True)
    assert "smollm2-135m-instruct" in listed.stdout
    wrong = subprocess.run([*run, "fetch", "smollm"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "there is no asset `smollm`" in wrong.stderr
