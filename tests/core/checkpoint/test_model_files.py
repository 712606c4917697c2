import json

import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from automodel_core.checkpoint.changes import meaningful_changes
from automodel_core.checkpoint.model_files import plan_shards, write_model_files
from automodel_core.infrastructure.weights import leaf_over


def sources(tensors):
    return {name: leaf_over(name, tensor) for name, tensor in tensors.items()}


def test_every_kind_of_tensor_reads_back_bit_for_bit(tmp_path):
    base = torch.arange(12.0)
    tensors = {
        "matrix": torch.randn(3, 5),
        "scalar": torch.tensor(2.5),
        "flag": torch.tensor([True, False]),
        "half": torch.randn(7).bfloat16(),
        "empty": torch.empty(0, 4),
        "count": torch.tensor(3),
        "transposed": torch.randn(4, 6).t(),
        "view": base[:6],
        "overlapping": base[3:9],
    }
    write_model_files(sources(tensors), tmp_path, max_shard_bytes=10**9)
    read = load_file(tmp_path / "model.safetensors")
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype
        assert torch.equal(read[name], tensor)


def test_shards_come_with_an_index(tmp_path):
    tensors = {f"w{i}": torch.full((10,), float(i)) for i in range(5)}
    shards = write_model_files(sources(tensors), tmp_path, max_shard_bytes=80)
    assert [s.name for s in shards] == [f"model-0000{i}-of-00003.safetensors" for i in (1, 2, 3)]
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert index["metadata"]["total_size"] == 200
    for name, file in index["weight_map"].items():
        assert torch.equal(load_file(tmp_path / file)[name], tensors[name])


@given(st.dictionaries(st.text(min_size=1, max_size=4), st.integers(0, 50), min_size=1), st.integers(1, 60))
def test_a_plan_holds_every_key_once_in_order_and_no_shard_is_too_large(sizes, max_bytes):
    shards = plan_shards(sizes, max_bytes)
    assert [key for shard in shards for key in shard.keys] == list(sizes)
    for shard in shards:
        assert len(shard.keys) == 1 or sum(sizes[key] for key in shard.keys) <= max_bytes


def test_only_what_changes_learning_is_a_meaningful_change():
    saved = {"optimizer": {"lr": 1, "betas": [0.9, 0.99]}, "checkpoint": {"directory": "a"}}
    now = {"optimizer": {"lr": 2, "betas": [0.9, 0.99]}, "checkpoint": {"directory": "b"}, "peft": {"rank": 8}}
    assert [str(c) for c in meaningful_changes(saved, now)] == [
        "`optimizer.lr` was 1 and is 2 now",
        "`peft` was None and is {'rank': 8} now",
    ]
    assert meaningful_changes(saved, saved) == []
