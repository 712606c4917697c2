import pytest

from automodel_core.checkpoint import durable
from automodel_core.checkpoint.directory import complete_steps, open_checkpoint, remove_leftovers, set_aside_after
from automodel_core.checkpoint.manifest import MANIFEST, Manifest, describe_files
from automodel_core.checkpoint.retention import expired_steps
from automodel_core.errors import InputError


def checkpoint(home, step):
    path = home / f"step-{step}"
    path.mkdir(parents=True)
    (path / "model.safetensors").write_bytes(b"weights")
    (path / MANIFEST).write_text(Manifest(step, 0, 1, {}, "0", describe_files(path)).to_json())
    return path


def test_a_step_directory_the_home_and_latest_all_open(tmp_path, monkeypatch):
    for step in (2, 10):
        checkpoint(tmp_path, step)
    (tmp_path / "latest").write_text("step-10\n")
    assert open_checkpoint(tmp_path / "step-2").manifest.step == 2
    assert open_checkpoint(tmp_path).manifest.step == 10
    assert open_checkpoint(tmp_path / "latest").manifest.step == 10
    monkeypatch.chdir(tmp_path)
    assert open_checkpoint("step-10").manifest.step == 10
    assert open_checkpoint("latest").manifest.step == 10
    monkeypatch.chdir("/")
    assert open_checkpoint("latest", default_directory=tmp_path).manifest.step == 10


@pytest.mark.parametrize("pointer", ["step-2", "step-99", "", None])
def test_a_stale_pointer_leads_to_the_newest_complete_step(tmp_path, pointer):
    for step in (2, 10, 11):
        checkpoint(tmp_path, step)
    (tmp_path / "step-11" / MANIFEST).unlink()
    if pointer is not None:
        (tmp_path / "latest").write_text(pointer)
    assert open_checkpoint(tmp_path).manifest.step == 10
    assert open_checkpoint(tmp_path / "latest").manifest.step == 10


def test_later_steps_are_set_aside_under_names_not_taken(tmp_path):
    for step in (2, 4, 10):
        checkpoint(tmp_path, step)
    (tmp_path / "abandoned-step-10-1").mkdir()
    assert [p.name for p in set_aside_after(tmp_path, 2)] == ["abandoned-step-10-2", "abandoned-step-4-1"]
    assert complete_steps(tmp_path) == [2]
    assert open_checkpoint(tmp_path / "abandoned-step-10-2").manifest.step == 10


def test_an_explicit_step_is_opened_although_a_newer_one_exists(tmp_path):
    checkpoint(tmp_path, 500)
    checkpoint(tmp_path, 900)
    (tmp_path / "latest").write_text("step-900\n")
    assert open_checkpoint(tmp_path / "step-500").manifest.step == 500


def test_a_missing_checkpoint_lists_those_there_are(tmp_path):
    checkpoint(tmp_path, 4)
    with pytest.raises(InputError) as error:
        open_checkpoint(tmp_path / "step-5")
    assert error.value.diagnostics[0].code == "AM501"
    assert "`step-4`" in error.value.diagnostics[0].helps[0]


def test_an_incomplete_checkpoint_is_not_one(tmp_path):
    checkpoint(tmp_path, 4)
    (checkpoint(tmp_path, 8) / MANIFEST).unlink()
    assert complete_steps(tmp_path) == [4]
    with pytest.raises(InputError, match="not a complete checkpoint"):
        open_checkpoint(tmp_path / "step-8")


def test_a_model_directory_is_pointed_to_the_key_that_takes_it(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError) as error:
        open_checkpoint(tmp_path)
    assert "`model.name_or_path`" in error.value.diagnostics[0].helps[0]


@pytest.mark.parametrize("damage", ["truncate", "delete", "manifest"])
def test_a_damaged_checkpoint_is_refused(tmp_path, damage):
    path = checkpoint(tmp_path, 1)
    if damage == "truncate":
        (path / "model.safetensors").write_bytes(b"we")
    elif damage == "delete":
        (path / "model.safetensors").unlink()
    else:
        (path / MANIFEST).write_text("{")
    with pytest.raises(InputError, match=r"damaged|unusable"):
        open_checkpoint(path)


def test_changed_content_is_found_when_hashes_are_asked_for(tmp_path):
    path = checkpoint(tmp_path, 1)
    (path / "model.safetensors").write_bytes(b"Weights")
    open_checkpoint(path)
    with pytest.raises(InputError, match=r"`model\.safetensors` has changed since") as error:
        open_checkpoint(path, hashes=True)
    assert error.value.diagnostics[0].code == "AM504"


def test_leftovers_go_and_a_checkpoint_set_aside_comes_back(tmp_path):
    (tmp_path / ".step-3.partial").mkdir()
    checkpoint(tmp_path, 5).rename(tmp_path / ".step-5.replaced")
    checkpoint(tmp_path, 7)
    (tmp_path / ".step-7.replaced").mkdir()
    checkpoint(tmp_path, 6).rename(tmp_path / ".step-6.expired")
    assert remove_leftovers(tmp_path) == [".step-3.partial", ".step-6.expired", ".step-7.replaced"]
    assert complete_steps(tmp_path) == [5, 7]


def test_a_directory_is_hidden_before_it_is_deleted(tmp_path, monkeypatch):
    path = checkpoint(tmp_path, 25)
    seen = []
    monkeypatch.setattr(durable.shutil, "rmtree", lambda p, **_: seen.append(p.name))
    durable.remove_directory(path)
    assert seen[-1] == ".step-25.expired"
    assert complete_steps(tmp_path) == []


def test_the_last_k_and_those_to_keep_stay():
    assert expired_steps([30, 10, 20, 40], 2) == [10, 20]
    assert expired_steps([10, 20, 30, 40], 2, keep=(10,)) == [20]
    assert expired_steps([10, 20], None) == []
    assert expired_steps([10], 3) == []
