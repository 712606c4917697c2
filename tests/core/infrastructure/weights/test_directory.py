"""Checkpoint directories: what is read, and what is said about the damaged ones."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import save_file

from automodel_core.errors import InputError
from automodel_core.infrastructure.weights import open_directory


@pytest.fixture
def sharded(tmp_path):
    save_file({"a": torch.arange(6.0).reshape(2, 3)}, tmp_path / "model-1.safetensors")
    save_file({"b": torch.ones(2, dtype=torch.bfloat16)}, tmp_path / "model-2.safetensors")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    return tmp_path


def said(directory):
    with pytest.raises(InputError) as caught:
        open_directory(directory)
    return caught.value.diagnostics


def test_one_file_gives_every_tensor(tmp_path):
    scalar, matrix = torch.tensor(3), torch.arange(6.0).reshape(2, 3)
    save_file({"scalar": scalar, "matrix": matrix}, tmp_path / "model.safetensors")
    sources = open_directory(tmp_path)
    assert torch.equal(sources["matrix"].read((slice(1, 2), slice(0, 2))), matrix[1:2, 0:2])
    assert torch.equal(sources["scalar"].tensor(), scalar)


def test_shards_are_read_by_their_index(sharded):
    sources = open_directory(sharded)
    assert sources["a"].tensor().sum() == 15
    assert sources["b"].dtype is torch.bfloat16


def test_a_missing_shard_is_named(sharded):
    (sharded / "model-2.safetensors").unlink()
    (problem,) = said(sharded)
    assert problem.code == "AM411"
    assert "model-2.safetensors" in problem.message


def test_an_index_that_promises_more_than_the_files_hold_is_refused(sharded):
    index = {"weight_map": {"a": "model-1.safetensors", "c": "model-2.safetensors"}}
    (sharded / "model.safetensors.index.json").write_text(json.dumps(index))
    (problem,) = said(sharded)
    assert problem.code == "AM411"
    assert "`c`" in problem.message


@pytest.mark.parametrize("content", ["{", "[]", '{"weight_map": 3}', '{"weight_map": {"a": "../elsewhere"}}'])
def test_an_unreadable_index_is_refused(sharded, content):
    (sharded / "model.safetensors.index.json").write_text(content)
    (problem,) = said(sharded)
    assert problem.code == "AM412"
    assert "model.safetensors.index.json" in problem.message


@pytest.mark.parametrize("keep", [0, 4, 60, -4])
def test_a_truncated_file_is_named(tmp_path, keep):
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.ones(100)}, path)
    content = path.read_bytes()
    path.write_bytes(content[:keep])
    (problem,) = said(tmp_path)
    assert problem.code == "AM412"
    assert str(path) in problem.message


def test_pickled_weights_are_refused_with_the_way_to_convert(tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "pytorch_model.bin")
    (problem,) = said(tmp_path)
    assert problem.code == "AM410"
    assert "save_pretrained" in problem.helps[0]


def test_an_empty_directory_is_refused(tmp_path):
    (problem,) = said(tmp_path)
    assert problem.code == "AM410"
    assert "model.safetensors" in problem.message
