"""Arrays kept on disk: made once, mapped, checked, and written so that nobody sees half of an entry."""

import json
import multiprocessing
import os
import pickle

import numpy as np
import pytest

from automodel_core.data.array_cache import ArrayCache, CachedArrays

KEY = "key"


def made() -> CachedArrays:
    return CachedArrays({"a": np.arange(1000, dtype=np.int32)}, {"n": 1})


@pytest.fixture
def cache(tmp_path):
    return ArrayCache(tmp_path / "cache")


def refuse() -> CachedArrays:
    raise AssertionError("the entry was there and should not be made again")


def test_an_entry_is_made_once_and_mapped(cache):
    first = cache.get(KEY, made)
    second = cache.get(KEY, refuse)
    assert (first.reused, second.reused) == (False, True)
    assert np.array_equal(second.arrays["a"], np.arange(1000))
    assert isinstance(second.arrays["a"], np.memmap)
    assert second.about == {"n": 1}
    assert sorted(os.listdir(cache.directory)) == [KEY]


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: (entry / "a.npy").write_bytes((entry / "a.npy").read_bytes()[:-1]),
        lambda entry: (entry / "a.npy").write_bytes((entry / "a.npy").read_bytes()[:-1] + b"\xff"),
        lambda entry: (entry / "a.npy").unlink(),
        lambda entry: (entry / "entry.json").write_text("{"),
        lambda entry: (entry / "entry.json").write_text(json.dumps({"digests": []})),
        lambda entry: (entry / "entry.json").unlink(),
    ],
)
def test_a_damaged_entry_is_made_again(cache, damage):
    cache.get(KEY, made)
    damage(cache.directory / KEY)
    again = cache.get(KEY, made)
    assert not again.reused
    assert np.array_equal(again.arrays["a"], np.arange(1000))
    assert cache.get(KEY, refuse).reused
    assert sorted(os.listdir(cache.directory)) == [KEY]


def test_a_directory_that_cannot_be_written_is_a_warning_and_arrays_in_memory(tmp_path, capsys):
    (tmp_path / "file").touch()
    found = ArrayCache(tmp_path / "file").get(KEY, made)
    assert np.array_equal(found.arrays["a"], np.arange(1000))
    assert "AM931" in capsys.readouterr().err


def test_an_entry_that_is_sent_to_another_process_is_mapped_there(cache):
    sent = pickle.dumps(cache.get(KEY, made))
    assert len(sent) < 1000
    assert isinstance(pickle.loads(sent).arrays["a"], np.memmap)
    in_memory = pickle.loads(pickle.dumps(made()))
    assert np.array_equal(in_memory.arrays["a"], np.arange(1000))


def _race(directory, barrier, results):
    def make():
        barrier.wait()  # both have found nothing, and write at the same time
        return made()

    results.put(int(ArrayCache(directory).get(KEY, make).arrays["a"].sum()))


def test_two_processes_that_make_one_entry_at_once_both_have_it(cache):
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(2), context.Queue()
    processes = [context.Process(target=_race, args=(cache.directory, barrier, results)) for _ in range(2)]
    for process in processes:
        process.start()
    assert [results.get(timeout=60) for _ in processes] == [499500, 499500]
    for process in processes:
        process.join()
    assert sorted(os.listdir(cache.directory)) == [KEY]
    assert cache.get(KEY, refuse).reused
