"""``automodel data preview``, as a user would run it."""

import json
import sys

import pytest
from tiny import make_tokenizer

ROWS = [{"question": f"How is {n}?", "answer": "Old, " * (n % 4) + "rare."} for n in range(20)]


@pytest.fixture
def config(small_config, tmp_path):
    rows = [*ROWS, {"question": "Nothing?", "answer": ""}]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "validation.jsonl").write_text("\n".join(map(json.dumps, ROWS[:3])))
    small_config["dataset"] = {"_target_": "InstructionDataset", "path": str(tmp_path), "max_seq_length": 64}
    small_config["validation_dataset"] = {"split": "validation"}
    small_config["step_scheduler"]["val_check_interval"] = 2
    path = tmp_path / "cfg.yaml"
    path.write_text(json.dumps(small_config))
    return path


def test_samples_and_figures_are_shown_where_there_is_no_model_yet(config, automodel, tmp_path):
    tokenizer = make_tokenizer(tmp_path / "tokenizer_alone")
    words = ("-c", config, "--model.name_or_path", tokenizer)
    assert automodel("finetune", "llm", *words)[0] == 2
    code, out, err = automodel("data", "preview", *words, "--rows", "2")
    assert code == 0, err
    assert "sample 0: " in out
    assert "How is 1?\n[[Old, rare.</s>]]" in out
    assert "sample 2" not in out
    assert "20 samples" in out
    assert "left out: 1 without an answer" in out
    assert "padding: " in out
    assert "1 of 21 rows are left out" in err


def test_json_has_everything_and_overrides_and_the_other_split_work(config, automodel):
    code, out, err = automodel(
        "data", "preview", config, "--split=validation", "--json", "--rows", "1", "--dataloader.batch_size", "3"
    )
    assert code == 0, err
    shown = json.loads(out)
    assert (shown["split"], shown["count"], shown["batch_size"]) == ("validation", 3, 3)
    assert [segment["learned"] for segment in shown["samples"][0]["segments"]] == [False, True]
    lengths = shown["lengths"]
    longest, total = lengths["longest"], shown["tokens"]
    assert shown["padding_share"] == pytest.approx(1 - total / (3 * longest))


def test_the_figures_are_those_of_the_batches_that_a_run_reads(config, automodel):
    from automodel_core.plugins import Catalog
    from automodel_core.programmatic import prepare_recipe

    _, out, _ = automodel("data", "preview", config, "--json")
    recipe = prepare_recipe(str(config), catalog=Catalog.discover())
    processor = recipe.host.build("build_processor", config=recipe.config)
    loader = recipe.host.build("build_dataloader", config=recipe.config, split="train", processor=processor)
    batches = list(loader.batches(0))
    positions = sum(batch["labels"].numel() for batch in batches)
    tokens = sum(int(batch.get("attention_mask", batch["labels"].new_ones(())).sum()) for batch in batches)
    tokens += sum(batch["labels"].numel() - 1 for batch in batches if "attention_mask" not in batch)
    shown = json.loads(out)
    assert shown["padding_share"] == pytest.approx(1 - tokens / positions)
    assert shown["learned"] == sum(int((batch["labels"] != -100).sum()) for batch in batches)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["data"], "needs an action"),
        (["data", "preveiw"], "did you mean `preview`"),
        (["data", "preview"], "there is no config"),
        (["data", "preview", "CFG", "--rows", "many"], "`--rows` takes a number"),
        (["data", "preview", "CFG", "--split", "valid"], "did you mean `validation`"),
        (["data", "preview", "CFG", "--split"], "`--split` needs a value"),
        (["data", "preview", "CFG", "--dataset.colum_mapping", "x"], "column_mapping"),
    ],
)
def test_a_mistake_is_said(config, automodel, words, says):
    code, _, err = automodel(*(config if w == "CFG" else w for w in words))
    assert code == 2
    assert says in err
    assert "Traceback" not in err


def test_a_data_set_of_the_user_s_own_is_previewed_too(config, automodel, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from automodel_llm.data.prompt_answer import TextSample\n\n\n"
        "class Mine:\n    def __len__(self):\n        return 3\n\n"
        "    def __getitem__(self, index):\n        return TextSample([5, 6, 7], [-100, 7, -100])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.chdir(tmp_path)
    loaded = json.loads(config.read_text())
    loaded["dataset"] = {"_target_": "mine.Mine"}
    del loaded["validation_dataset"], loaded["step_scheduler"]["val_check_interval"]
    config.write_text(json.dumps(loaded))
    assert automodel("data", "preview", config)[0] == 2
    code, out, err = automodel("data", "preview", config, "--trust", "mine")
    assert code == 0, err
    assert "3 samples, 9 tokens" in out
    loaded["dataset"] = {"_target_": "./mine.py:Mine"}
    config.write_text(json.dumps(loaded))
    assert automodel("data", "preview", config)[0] == 2
    code, out, err = automodel("data", "preview", config, "--trust", "mine.py")
    assert code == 0, err
    assert "3 samples, 9 tokens" in out


def test_rows_are_held_out_only_where_something_is_measured_on_them(config, automodel, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    words = ("-c", config, "--dataset.path", tmp_path / "one", "--json")
    assert json.loads(automodel("data", "preview", *words)[1])["count"] == 18
    assert json.loads(automodel("data", "preview", *words, "~validation_dataset")[1])["count"] == 20
    words = (*words, "~validation_dataset", "+dataset.validation_fraction=0.5")
    assert json.loads(automodel("data", "preview", *words)[1])["count"] == 10
