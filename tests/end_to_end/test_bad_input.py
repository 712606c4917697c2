"""What a user gets wrong is said with its place and what to do: exit 2, no traceback."""

import json
import shutil

import pytest
from tiny import SEED_YAML

TARGET = "_target_: NeMoAutoModelForCausalLM.from_pretrained"

WARMUP = "nemo_automodel.schedulers.CosineAnnealingWarmup"


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
    "values that a model cannot have": (put("model", num_attention_heads=-3), ["cfg.yaml:"]),
    "an activation that there is not": (put("model", hidden_act="zilu"), ["zilu", "cfg.yaml:"]),
    "checkpoint that is not there": (put("restore_from", path="absent/step-3"), ["absent/step-3"]),
    "fp8": (put("fp8", enabled=True), ["fp8", "cfg.yaml:"]),
    "qat": (put("qat", enabled=True), ["qat", "cfg.yaml:"]),
    "tensor parallelism": (put("distributed", tp_size=2), ["tp_size", "cfg.yaml:"]),
    "context parallelism": (put("distributed", cp_size=2), ["cp_size", "cfg.yaml:"]),
    "packing": (put("packed_sequence", enabled=True), ["packed_sequence", "cfg.yaml:"]),
    "metrics directory that cannot be made": (
        put("logging", directory="/proc/nope"),
        ["metrics cannot be written", "cfg.yaml:"],
    ),
    "recipe that does not exist": (
        lambda c: c.update(recipe="TrainFinetuneRecip"),
        ["TrainFinetuneRecipe", "cfg.yaml:"],
    ),
    "rate that is no number": (put("optimizer", lr="abc"), ["`lr`", "the text `abc`", "AM211", "cfg.yaml:"]),
    "rate below zero": (put("optimizer", lr=-1), ["refuses these arguments", "-1", "AM212", "cfg.yaml:"]),
    "one beta of two": (put("optimizer", betas=[0.9]), ["`betas`", "a list of 2", "cfg.yaml:"]),
    "warm-up that is no number": (
        put("lr_scheduler", _target_=WARMUP, warmup_steps="abc"),
        ["`warmup_steps`", "must be an int", "cfg.yaml:"],
    ),
    "warm-up below zero": (
        put("lr_scheduler", _target_=WARMUP, warmup_steps=-3),
        ["`warmup_steps` must not be negative", "AM212", "cfg.yaml:"],
    ),
    "length that is no number": (put("dataset", max_seq_length="foo"), ["must be an int, got the text `foo`"]),
    "limit that is no number": (put("dataset", limit="abc"), ["`limit`", "an int or null", "cfg.yaml:"]),
    "data without a path": (put("dataset", path=None), ["`path`", "got null", "cfg.yaml:"]),
    "data whose path is a number": (put("dataset", path=3), ["`path`", "the int `3`", "cfg.yaml:"]),
    "model without a path": (put("model", name_or_path=None), ["model.name_or_path", "cfg.yaml:"]),
    "model that is nowhere": (put("model", name_or_path="MODEL"), ["`MODEL`", "no such directory", "`org/name`"]),
    "smoothing that is no number": (
        put("loss_fn", _target_="torch.nn.CrossEntropyLoss", label_smoothing="abc"),
        ["`label_smoothing`", "must be a number", "cfg.yaml:"],
    ),
    "weights of classes as a list": (
        put("loss_fn", _target_="torch.nn.CrossEntropyLoss", weight=[1, 2]),
        ["`weight`", "Tensor", "cfg.yaml:"],
    ),
    "loss of numbers": (put("loss_fn", _target_="torch.nn.MSELoss"), ["torch.nn.MSELoss", "labels (N,)", "cfg.yaml:"]),
    "shards of no size": (put("checkpoint", max_shard_size="0GB"), ["max_shard_size", "cfg.yaml:"]),
    "compile mode that does not exist": (
        put("compile", enabled=True, mode="max-autotun"),
        ["compile.mode", "`max-autotune`", "cfg.yaml:"],
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


@pytest.mark.parametrize(
    ("context", "answer", "says"),
    [
        (None, "a", "column `context` holds nothing"),
        (3, "a", "column `context` holds int"),
        ("\ud800", "a", "column `context` has a lone surrogate"),
        ("c", 3, "column `answers` holds int"),
        ("c", "\ud800", "column `answers` has a lone surrogate"),
    ],
)
@pytest.mark.parametrize("fraction", [None, 0.5])
def test_text_that_is_none_in_nested_data_is_named(context, answer, says, fraction, written, automodel, tmp_path):
    data = tmp_path / "rows.json"
    paragraph = {"context": context, "qas": [{"question": "q", "answers": [{"text": answer}]}]}
    data.write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    change = put("dataset", path=str(data), validation_fraction=fraction)
    code, _, err = automodel("finetune", "llm", "-c", written(change))
    assert code == 2, err
    assert "AM308" in err
    assert f"rows.json, question 0`: {says}" in err
    assert "Traceback" not in err


def test_a_byte_order_mark_is_read_over(written, automodel, squad, tmp_path):
    data = tmp_path / "marked.json"
    data.write_bytes(b"\xef\xbb\xbf" + squad.read_bytes())
    code, _, err = automodel("finetune", "llm", "-c", written(put("dataset", path=str(data))))
    assert code == 0, err


@pytest.mark.parametrize(
    ("hook", "body", "says"),
    [
        ("build_optimizer", "sys.exit(0)", "called `sys.exit(0)`"),
        ("step_finished", "sys.exit(0)", "called `sys.exit(0)`"),
        ("build_optimizer", "return 3", "`step` and `param_groups`, not `int`"),
        ("build_lr_scheduler", "return 3", "not `int`"),
        ("build_dataloader", "return []", "an `OrderedLoader`"),
        ("build_dataloader", "return am.NOTHING", "`NOTHING` is for other splits"),
        ("build_loss_fn", "return 3", "a callable"),
    ],
)
def test_a_hook_that_leaves_or_answers_wrongly_is_named(hook, body, says, written, automodel, tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(f"import sys\n\nimport automodel_core as am\n\n\n@am.hookimpl\ndef {hook}():\n    {body}\n")
    code, out, err = automodel("finetune", "llm", "-c", written(lambda c: None), "--plugin", plugin)
    assert code == 2, err
    for words in (f"`{hook}`", "mine.py", says):
        assert words in err
    assert "Traceback" not in out + err


@pytest.mark.parametrize("target", ["torch.optim.SGD", "torch.optim.AdamW"])
def test_a_rate_of_nan_is_refused(target, written, automodel):
    path = written(put("optimizer", _target_=target))
    code, _, err = automodel("finetune", "llm", "-c", path, "--optimizer.lr", ".nan")
    assert code == 2, err
    assert f"`{target}` refuses these arguments: `lr` is nan" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["MODEL", "./absent"])
def test_a_model_that_is_nowhere_is_said_of_the_model_before_its_tokenizer(name, written, automodel, tmp_path):
    def change(config):
        config["model"]["name_or_path"] = name
        del config["dataset"]["tokenizer_name_or_path"]

    code, _, err = automodel("finetune", "llm", "-c", written(change))
    assert code == 2, err
    assert err.count("error: ") == 1
    assert f"`name_or_path` is `{name}`, and there is no such directory [AM401]" in err
    assert '"name_or_path":' in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "generation_config.json"])
@pytest.mark.parametrize("text", ["[]", "{", '{"model_type": 3}'])
def test_a_damaged_file_of_a_model_directory_is_no_traceback(small_config, llama, tmp_path, automodel, name, text):
    shutil.copytree(llama, tmp_path / "model")
    if name == "generation_config.json" and text.startswith('{"'):
        text = '{"max_new_tokens": -5, "do_sample": "x"}'
    (tmp_path / "model" / name).write_text(text)
    small_config["model"]["name_or_path"] = str(tmp_path / "model")
    small_config["dataset"]["tokenizer_name_or_path"] = str(tmp_path / "model")
    (tmp_path / "cfg.yaml").write_text(json.dumps(small_config))
    code, out, err = automodel("finetune", "llm", "-c", tmp_path / "cfg.yaml")
    assert "Traceback" not in out + err
    assert code in (0, 2), err
    if text in ("[]", "{") and name != "tokenizer_config.json":
        assert code == 2


def test_a_model_without_logits_over_tokens_is_refused(small_config, llama, tmp_path):
    import automodel_core as am

    small_config["model"]["_target_"] = "NeMoAutoModelCrossEncoder.from_pretrained"
    with pytest.raises(am.InputError, match="does not predict tokens") as error:
        am.run(small_config, route="finetune llm")
    assert error.value.diagnostics[0].code == "AM388"


def test_words_that_are_not_utf_8_are_refused(automodel, tmp_path):
    code, out, err = automodel("finetune", "llm", "-c", tmp_path / "x.yaml", "--a.b=caf\udce9")
    assert code == 2
    assert "is not UTF-8 text [AM709]" in err
    assert "Traceback" not in out + err


def test_measuring_what_was_trained_on_is_said(small_config, tmp_path, automodel):
    small_config.pop("validation_dataset", None)
    small_config.pop("step_scheduler", None)
    (tmp_path / "cfg.yaml").write_text(json.dumps(small_config))
    code, _, err = automodel("evaluate", "llm", "-c", tmp_path / "cfg.yaml", "--evaluation.exact_match_samples", "0")
    assert code == 0, err
    assert "[AM933]" in err
