"""Ten steps straight equal five, a resume and five more: bit for bit."""

import copy
import json
from pathlib import Path

import attrs
import pytest
import torch
from safetensors.torch import load_file
from tiny import write_squad

import automodel_core as am
from automodel_core.checkpoint.manifest import MANIFEST, describe_files, read_manifest


def weights(directory: Path) -> dict[str, torch.Tensor]:
    return {k: v for file in sorted(directory.glob("*.safetensors")) for k, v in load_file(file).items()}


def samples(directory, records):
    timing = {"mem", "tps"}
    return [{k: v for k, v in s.items() if k not in timing} for s in records(directory, "step")]


CASES = {
    "in the middle of an epoch": {},
    "at the end of an epoch": {"dataloader": {"batch_size": 4}, "step_scheduler": {"grad_accumulation_steps": 2}},
    "in a later epoch": {"dataloader": {"batch_size": 6}, "step_scheduler": {"grad_accumulation_steps": 3}},
    "with workers": {"dataloader": {"batch_size": 2, "num_workers": 2}},
    "with lora and dropout": {"peft": {"rank": 4, "dropout": 0.2}},
    "with sgd and momentum": {"optimizer": {"_target_": "torch.optim.SGD", "lr": 0.01, "momentum": 0.9}},
}


@pytest.mark.parametrize("case", CASES)
def test_a_resumed_run_is_bit_equal_to_one_that_never_stopped(small_config, records, tmp_path, case):
    config = copy.deepcopy(small_config)
    config["model"]["attention_dropout"] = 0.1
    config["lr_scheduler"] = {"_target_": "nemo_automodel.schedulers.CosineAnnealingWarmup", "warmup_steps": 3}
    config["validation_dataset"] = {"split": "validation"}
    for section, values in CASES[case].items():
        config[section] = {**config.get(section, {}), **values} if "_target_" not in values else values
    config["step_scheduler"] |= {"max_steps": 10, "checkpoint_interval": 5, "val_check_interval": 4}
    straight = Path(config["checkpoint"]["directory"])
    am.run(config, route="finetune llm")

    config["checkpoint"]["directory"] = str(tmp_path / "resumed")
    config["restore_from"] = {"path": str(straight / "step-5")}
    am.run(config, route="finetune llm")

    assert samples(tmp_path / "resumed", records) == samples(straight, records)[5:]
    one, other = straight / "step-10", tmp_path / "resumed" / "step-10"
    for part in (Path(), Path("state")):
        first, second = weights(one / part), weights(other / part)
        assert first.keys() == second.keys()
        for name in first:
            assert torch.equal(first[name], second[name]), name
    assert json.loads((one / "state/training.json").read_text()) == json.loads(
        (other / "state/training.json").read_text()
    )


def test_a_finished_run_says_that_nothing_is_left(small_config, capfd):
    am.run(small_config, route="finetune llm")
    small_config["restore_from"] = {"path": small_config["checkpoint"]["directory"]}
    am.run(small_config, route="finetune llm")
    assert "nothing is left to train" in capfd.readouterr().err


def test_a_run_resumes_in_its_own_directory_and_goes_further(small_config, records):
    home = Path(small_config["checkpoint"]["directory"])
    am.run(small_config, route="finetune llm")
    small_config["restore_from"] = {"path": "latest"}
    small_config["step_scheduler"]["max_steps"] = 6
    am.run(small_config, route="finetune llm")
    assert [s["step"] for s in records(home, "step")] == [1, 2, 3, 4, 5, 6]
    assert (home / "latest").read_text() == "step-6\n"
    assert (home / "step-4" / "manifest.json").exists()


def test_a_config_that_would_learn_something_else_is_refused_with_the_difference(small_config):
    am.run(small_config, route="finetune llm")
    small_config["restore_from"] = {"path": "latest"}
    small_config["optimizer"]["lr"] = 1e-2
    with pytest.raises(am.InputError, match=r"`optimizer\.lr` was 0\.001 and is 0\.01 now"):
        am.run(small_config, route="finetune llm")


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("dataset", "max_seq_length", 32),
        ("dataloader", "batch_size", 1),
        ("step_scheduler", "grad_accumulation_steps", 1),
        ("model", "attention_dropout", 0.5),
    ],
)
def test_other_data_or_another_model_is_refused_unless_insisted_on(small_config, section, key, value):
    am.run(small_config, route="finetune llm")
    small_config["restore_from"] = {"path": "latest"}
    small_config[section][key] = value
    with pytest.raises(am.InputError, match=rf"`{section}\.{key}` was") as error:
        am.run(small_config, route="finetune llm")
    assert [d.code for d in error.value.diagnostics] == ["AM508"]
    if section == "dataset":
        small_config["restore_from"]["allow_changes"] = True
        am.run(small_config, route="finetune llm")


@pytest.mark.parametrize(("count", "says"), [(30, "had 40 samples and have 30 now"), (40, "hold something else")])
def test_data_that_are_not_the_checkpoint_s_are_refused_unless_insisted_on(small_config, tmp_path, count, says):
    """The order is a function of the number of samples: with other data, some would come twice and others never."""
    am.run(small_config, route="finetune llm")
    changed = Path(write_squad(tmp_path / "changed.json", count))
    changed.write_text(changed.read_text().replace("The ", "This ", 1))
    small_config["dataset"]["path"] = str(changed)
    small_config["restore_from"] = {"path": "latest"}
    small_config["step_scheduler"]["max_steps"] = 5
    with pytest.raises(am.InputError, match=says) as error:
        am.run(small_config, route="finetune llm")
    assert [d.code for d in error.value.diagnostics] == ["AM508"]
    small_config["restore_from"]["allow_changes"] = True
    am.run(small_config, route="finetune llm")


def test_data_that_only_moved_are_gone_on_with(small_config, tmp_path, squad):
    am.run(small_config, route="finetune llm")
    (tmp_path / "elsewhere.json").write_bytes(Path(squad).read_bytes())
    small_config["dataset"]["path"] = str(tmp_path / "elsewhere.json")
    small_config["restore_from"] = {"path": "latest"}
    small_config["step_scheduler"]["max_steps"] = 5
    am.run(small_config, route="finetune llm")


def test_a_new_run_never_writes_over_another_one(small_config):
    am.run(small_config, route="finetune llm")
    with pytest.raises(am.InputError, match="already holds the checkpoints of a run"):
        am.run(small_config, route="finetune llm")
    small_config["checkpoint"]["overwrite"] = True
    small_config["step_scheduler"]["max_steps"] = 2
    am.run(small_config, route="finetune llm")
    home = Path(small_config["checkpoint"]["directory"])
    assert sorted(p.name for p in home.glob("*step-*")) == ["abandoned-step-4-1", "step-2"]
    assert (home / "latest").read_text() == "step-2\n"


def test_a_run_that_goes_back_leaves_the_later_steps_behind_before_it_saves(small_config):
    home = Path(small_config["checkpoint"]["directory"])
    small_config["step_scheduler"]["checkpoint_interval"] = 2
    am.run(small_config, route="finetune llm")
    small_config["restore_from"] = {"path": str(home / "step-2")}
    small_config["dataset"]["path"] += ".gone"
    with pytest.raises(am.InputError):
        am.run(small_config, route="finetune llm")
    assert (home / "step-4").is_dir(), "a run that is refused changes nothing"

    small_config["dataset"]["path"] = small_config["dataset"]["path"].removesuffix(".gone")

    class Killed:
        @am.hookimpl
        def forward_backward(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        am.run(small_config, route="finetune llm", plugins=[Killed()])
    assert sorted(p.name for p in home.glob("*step-*")) == ["abandoned-step-4-1", "step-2"]
    assert (home / "latest").read_text() == "step-2\n"
    small_config["restore_from"] = {"path": "latest"}
    am.run(small_config, route="finetune llm")
    assert (home / "latest").read_text() == "step-4\n"


def test_a_second_run_into_the_directory_of_one_that_goes_on_is_refused(small_config):
    home = Path(small_config["checkpoint"]["directory"])
    refused = []

    class Meanwhile:
        @am.hookimpl
        def step_finished(self):
            (home / ".step-9.partial").mkdir(exist_ok=True)
            with pytest.raises(am.InputError, match="another run is writing to") as error:
                am.run({**small_config, "checkpoint": {"directory": str(home), "overwrite": True}})
            refused.append((error.value.diagnostics[0].code, (home / ".step-9.partial").is_dir()))

    small_config["step_scheduler"]["max_steps"] = 2
    am.run(small_config, route="finetune llm", plugins=[Meanwhile()])
    assert refused == [("AM512", True)] * 2
    small_config["restore_from"] = {"path": "latest"}
    am.run(small_config, route="finetune llm")
    assert not list(home.glob(".step-*"))


def test_a_resumed_run_from_elsewhere_does_not_mix_with_the_steps_of_another(small_config, tmp_path):
    am.run(small_config, route="finetune llm")
    small_config["restore_from"] = {"path": str(tmp_path / "run" / "step-4")}
    small_config["step_scheduler"]["max_steps"] = 5
    small_config["checkpoint"]["directory"] = str(tmp_path / "other")
    am.run(small_config, route="finetune llm")
    with pytest.raises(am.InputError, match="already holds the checkpoints of a run"):
        am.run(small_config, route="finetune llm")


def rewrite(path, change):
    """Change a JSON file of a checkpoint and the manifest with it, as a program that is not this one might."""
    value = json.loads(path.read_text())
    path.write_text(json.dumps(change(value)) if change else "{")
    step = path.parents[1] if path.parent.name == "state" else path.parent
    if path.name != MANIFEST:
        manifest = attrs.evolve(read_manifest(step), files=describe_files(step))
        (step / MANIFEST).write_text(manifest.to_json())


@pytest.mark.parametrize(
    ("file", "change", "code", "said"),
    [
        ("state/training.json", lambda v: {k: v[k] for k in v if k != "optimizer"}, "AM507", "lacks `optimizer`"),
        ("state/training.json", lambda v: {k: v[k] for k in v if k != "data"}, "AM507", "lacks `data`"),
        ("state/config.json", None, "AM507", "config.json` cannot be read"),
        ("manifest.json", lambda v: v | {"world_size": 4}, "AM513", "was written by 4 processes"),
    ],
)
def test_a_checkpoint_that_cannot_be_gone_on_from_says_why(small_config, file, change, code, said):
    am.run(small_config, route="finetune llm")
    rewrite(Path(small_config["checkpoint"]["directory"]) / "step-4" / file, change)
    small_config["restore_from"] = {"path": "latest"}
    with pytest.raises(am.InputError, match=said) as error:
        am.run(small_config, route="finetune llm")
    assert [d.code for d in error.value.diagnostics] == [code]


def test_weights_that_changed_on_the_disk_are_refused(small_config):
    am.run(small_config, route="finetune llm")
    file = Path(small_config["checkpoint"]["directory"]) / "step-4" / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    small_config["restore_from"] = {"path": "latest"}
    with pytest.raises(am.InputError, match=r"`model\.safetensors` has changed since"):
        am.run(small_config, route="finetune llm")


@pytest.mark.parametrize("scheduled", [True, False])
def test_a_change_that_is_insisted_on_takes_effect(small_config, records, tmp_path, scheduled):
    """A rate ten times as large from step 3 on: the rates are those of the new config's schedule at those steps."""
    if scheduled:
        small_config["lr_scheduler"] = {"_target_": "CosineAnnealingWarmup", "warmup_steps": 2}
    small_config["step_scheduler"] |= {"max_steps": 6, "checkpoint_interval": 2}
    home = Path(small_config["checkpoint"]["directory"])
    am.run(small_config, route="finetune llm")
    before = [s["lr"] for s in records(home, "step")]
    small_config["restore_from"] = {"path": str(home / "step-2"), "allow_changes": True}
    small_config["optimizer"] |= {"lr": 1e-2, "weight_decay": 0.5}
    small_config["checkpoint"]["directory"] = str(tmp_path / "changed")
    recipe = am.run(small_config, route="finetune llm")
    after = [s["lr"] for s in records(tmp_path / "changed", "step")]
    assert after == pytest.approx([10 * lr for lr in before[2:]])
    assert recipe.run.optimizer.param_groups[0]["weight_decay"] == 0.5
