"""What a user gets wrong is said with its place and what to do: exit 2, no traceback."""

import json

import pytest
from tiny import SEED_YAML

TARGET = "_target_: NeMoAutoModelForCausalLM.from_pretrained"


@pytest.fixture
def written(small_config, tmp_path):
    """Write the small config as JSON in a YAML file, changed by a function, and return the path."""

    def write(change):
        change(small_config)
        path = tmp_path / "cfg.yaml"
        path.write_text(json.dumps(small_config, indent=1))
        return path

    return write


def put(section, **values):
    return lambda config: config.setdefault(section, {}).update(values)


CASES = {
    "unknown section": (lambda c: c.update(optimiser={"lr": 1}), ["`optimiser`", "`optimizer`", "cfg.yaml:"]),
    "unknown key of a section": (put("step_scheduler", max_step=3), ["`max_step`", "`max_steps`", "cfg.yaml:"]),
    "wrong type": (put("step_scheduler", max_steps="many"), ["max_steps", "cfg.yaml:"]),
    "unknown argument of a target": (put("optimizer", lrr=1), ["`lrr`", "`lr`", "cfg.yaml:"]),
    "target that does not exist": (put("optimizer", _target_="torch.optim.AdamWW"), ["AdamWW", "AdamW", "cfg.yaml:"]),
    "target that is not trusted": (put("optimizer", _target_="os.system"), ["os.system", "cfg.yaml:"]),
    "missing data file": (put("dataset", path="absent.json"), ["absent.json", "does not exist"]),
    "missing model directory": (put("model", name_or_path="./absent"), ["./absent"]),
    "unknown key of the architecture": (put("model", hiden_size=3), ["hiden_size", "hidden_size", "cfg.yaml:"]),
    "code of others neither trusted nor not": (put("model", trust_remote_code="maybe"), ["must be true or false"]),
    "lora pattern that matches nothing": (put("peft", target_modules="nothing"), ["nothing"]),
    "freeze pattern that matches nothing": (put("freeze", patterns=["nothing.*"]), ["nothing.*"]),
    "everything frozen": (put("freeze", patterns=["*"]), ["trainable"]),
    "checkpoint that is not there": (put("restore_from", path="absent/step-3"), ["absent/step-3"]),
    "fp8": (put("fp8", enabled=True), ["fp8", "cfg.yaml:"]),
    "qat": (put("qat", enabled=True), ["qat", "cfg.yaml:"]),
    "tensor parallelism": (put("distributed", tp_size=2), ["tp_size", "cfg.yaml:"]),
    "context parallelism": (put("distributed", cp_size=2), ["cp_size", "cfg.yaml:"]),
    "packing": (put("packed_sequence", enabled=True), ["packed_sequence", "cfg.yaml:"]),
    "recipe that does not exist": (
        lambda c: c.update(recipe="TrainFinetuneRecip"),
        ["TrainFinetuneRecipe", "cfg.yaml:"],
    ),
    "shard size that is not one": (put("checkpoint", max_shard_size="big"), ["max_shard_size", "cfg.yaml:"]),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_with_its_place_and_a_way_out(case, written, automodel):
    change, says = CASES[case]
    code, out, err = automodel("finetune", "llm", "-c", written(change))
    assert code == 2, err
    assert "Traceback" not in out + err
    assert "error" in err
    for words in says:
        assert words in err


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([put("step_scheduler", max_step=2), put("dataloader", batch_size=0)], ["max_step", "batch_size"]),
        (
            [put("optimizer", lrr=1), put("dataset", pth="x"), put("loss_fn", _target_="torch.nn.Nothing")],
            ["lrr", "pth", "torch.nn.Nothing"],
        ),
    ],
)
def test_several_mistakes_are_said_at_once(changes, says, written, automodel):
    def change(config):
        for one in changes:
            one(config)

    code, _, err = automodel("finetune", "llm", "-c", written(change))
    assert code == 2
    for words in says:
        assert words in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["finetune", "lm", "-c", str(SEED_YAML)], ["`lm`", "llm"]),
        (["finetun", "llm", "-c", str(SEED_YAML)], ["`finetun`", "finetune"]),
        (["finetune", "vlm", "-c", str(SEED_YAML)], ["vlm"]),
        (["finetune", "llm", "-c", "absent.yaml"], ["absent.yaml"]),
        (["finetune", "llm"], ["-c"]),
        (["finetune", "llm", "-c", str(SEED_YAML), "--optimzer.lr", "1"], ["optimzer", "optimizer"]),
        (["finetune", "llm", "-c", str(SEED_YAML), "--nproc-per-node", "2"], ["--nproc-per-node"]),
        (["finetune", "llm", "-c", str(SEED_YAML), "--optimizer.lr"], ["--optimizer.lr"]),
    ],
)
def test_a_command_line_that_is_wrong_is_refused(arguments, says, automodel):
    code, out, err = automodel(*arguments)
    assert code == 2, err
    assert "Traceback" not in out + err
    for words in says:
        assert words in err


def test_a_checkpoint_that_was_damaged_is_named(written, automodel, small_config, tmp_path):
    code, _, err = automodel("finetune", "llm", "-c", written(lambda c: None))
    assert code == 0, err
    weights = tmp_path / "run" / "step-4" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    path = written(put("restore_from", path=str(tmp_path / "run" / "step-4")))
    code, _, err = automodel("finetune", "llm", "-c", path)
    assert code == 2
    assert "damaged" in err
    assert "model.safetensors" in err
    assert "Traceback" not in err


def test_rows_without_the_column_are_named(written, automodel, tmp_path):
    data = tmp_path / "rows.jsonl"
    data.write_text('{"context": "c", "question": "q", "answer": "a"}\n{"context": "c", "answer": "a"}\n')
    code, _, err = automodel("finetune", "llm", "-c", written(put("dataset", path=str(data))))
    assert code == 2
    assert "rows.jsonl:2" in err
    assert "`question`" in err


def test_a_group_without_supervision_is_a_step_of_loss_zero_and_a_warning(written, automodel, records, tmp_path):
    plugin = tmp_path / "unsupervised.py"
    plugin.write_text(
        "import automodel_core as am\n"
        "import torch\n\n\n"
        "@am.hookimpl(wrapper=True)\n"
        "def build_dataloader(split):\n"
        "    loader = yield\n"
        "    if split == 'train':\n"
        "        for row in range(len(loader.dataset.rows)):\n"
        "            pass\n"
        "        inner = loader.collate\n"
        "        class Blank:\n"
        "            def __call__(self, samples):\n"
        "                batch = inner(samples)\n"
        "                batch['labels'] = torch.full_like(batch['labels'], -100)\n"
        "                return batch\n"
        "        import attrs\n"
        "        loader = attrs.evolve(loader, collate=Blank())\n"
        "    return loader\n"
    )
    code, _, err = automodel("finetune", "llm", "-c", written(lambda c: None), "--plugin", plugin)
    assert code == 0, err
    assert "warning: step 4 had nothing to learn from (4 so far)" in err
    steps = records(tmp_path / "run", "step")
    assert [(s["loss"], s["grad_norm"]) for s in steps] == [(0.0, 0.0)] * 4
