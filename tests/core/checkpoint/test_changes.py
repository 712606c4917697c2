import copy

import pytest

from automodel_core.checkpoint.changes import meaningful_changes

SAVED = {
    "model": {"_target_": "M", "name_or_path": "/a", "torch_dtype": "bfloat16", "attn_implementation": "sdpa"},
    "dataset": {
        "_target_": "D",
        "path": "/a",
        "max_seq_length": 64,
        "cache": True,
        "tokenizer_name_or_path": "/a",
        "parts": [{"path": "/b", "weight": 1.0}],
    },
    "dataloader": {"batch_size": 2, "shuffle": True, "num_workers": 0, "pin_memory": False},
    "step_scheduler": {"grad_accumulation_steps": 2, "max_steps": 4},
    "optimizer": {"_target_": "O", "lr": 0.1},
}


def changed(key, value):
    config = copy.deepcopy(SAVED)
    *parents, last = key.split(".")
    place = config
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place[name]
    place[last] = value
    return config


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model.torch_dtype", "float32"),
        ("model._target_", "N"),
        ("dataset.max_seq_length", 128),
        ("dataset.parts.0.weight", 2.0),
        ("dataset.split", "train[:10]"),
        ("dataloader.batch_size", 4),
        ("dataloader.shuffle", False),
        ("step_scheduler.grad_accumulation_steps", 1),
        ("optimizer.lr", 0.2),
    ],
)
def test_what_decides_what_is_learned_may_not_change(key, value):
    assert [change.key for change in meaningful_changes(SAVED, changed(key, value))] == [key]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model.name_or_path", "/b"),
        ("model.attn_implementation", "eager"),
        ("dataset.path", ["/b"]),
        ("dataset.cache", False),
        ("dataset.tokenizer_name_or_path", "/b"),
        ("dataset.parts.0.path", "/c"),
        ("dataloader.num_workers", 2),
        ("dataloader.pin_memory", True),
        ("step_scheduler.max_steps", 9),
    ],
)
def test_what_moves_or_only_goes_faster_may_change(key, value):
    assert meaningful_changes(SAVED, changed(key, value)) == []


def test_a_dataset_of_more_parts_is_another_one():
    (change,) = meaningful_changes(SAVED, changed("dataset.parts", []))
    assert change.key == "dataset.parts"
