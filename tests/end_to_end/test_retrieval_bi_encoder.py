"""A bi-encoder from a config to a directory that sentence-transformers reads, straight and resumed."""

import copy
import json

import pytest
import torch
from retrieval_made import make_encoder, pairs, write_rows
from safetensors.torch import load_file

import automodel_core as am

TEXTS = ["kaban lodor mifel", "rugim", "soban sodor kaban teban lofel"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("bert"), dropout=0.1)


@pytest.fixture
def config(encoder, tmp_path):
    """A complete config of a small run."""
    data = tmp_path / "data"
    data.mkdir()
    write_rows(data / "train.jsonl", pairs(48))
    write_rows(data / "validation.jsonl", pairs(24, seed=1))
    return {
        "model": {"_target_": "NeMoAutoModelBiEncoder.from_pretrained", "name_or_path": str(encoder)},
        "dataset": {"_target_": "RetrievalDataset", "path": str(data)},
        "validation_dataset": {"split": "validation"},
        "retrieval": {"query_max_length": 16, "document_max_length": 24, "query_prompt": "query: "},
        "dataloader": {"batch_size": 8},
        "step_scheduler": {"max_steps": 4, "val_check_interval": 4},
        "optimizer": {"_target_": "torch.optim.AdamW", "lr": 3e-3, "weight_decay": 0.0},
        "checkpoint": {"directory": str(tmp_path / "run")},
    }


def run(config):
    return am.run(config, route="finetune retrieval").run


def embeddings_of(state, side, prompt=""):
    """Return embeddings by a loop of its own over the encoder that trained."""
    tower = state.model.tower(side).eval()
    found = []
    for text in TEXTS:
        encoded = state.processor(prompt + text, return_tensors="pt")
        with torch.no_grad():
            hidden = tower(**{k: encoded[k] for k in ("input_ids", "attention_mask")}).last_hidden_state[0]
        vector = {"mean": hidden.mean(0), "cls": hidden[0], "last_token": hidden[-1]}[state.model.pooling]
        found.append(vector / vector.norm() if state.model.normalize else vector)
    return torch.stack(found)


def files_equal(one, other):
    names = sorted(p.relative_to(one) for p in one.rglob("*.safetensors"))
    assert names == sorted(p.relative_to(other) for p in other.rglob("*.safetensors"))
    for name in names:
        first, second = load_file(one / name), load_file(other / name)
        assert first.keys() == second.keys()
        assert all(torch.equal(first[key], second[key]) for key in first), name


CASES = {
    "shared": {},
    "cls without normalisation": {"model": {"pooling": "cls", "normalize": False}},
    "separate, last token": {"model": {"share_encoder": False, "pooling": "last_token"}},
    "adapters on a shared encoder": {"peft": {"rank": 4}},
}


@pytest.mark.parametrize("case", CASES)
def test_sentence_transformers_reads_the_checkpoint_and_gives_the_same_embeddings(config, case, tmp_path):
    from sentence_transformers import SentenceTransformer

    for section, values in CASES[case].items():
        config[section] = {**config.get(section, {}), **values}
    state = run(config)
    peer = SentenceTransformer(str(tmp_path / "run" / "step-4"), device="cpu")
    for side, encode in (("query", peer.encode_query), ("document", peer.encode_document)):
        prompt = "query: " if side == "query" else ""
        theirs = torch.tensor(encode(TEXTS))
        torch.testing.assert_close(theirs, embeddings_of(state, side, prompt), atol=1e-5, rtol=1e-5)
    assert peer.prompts["query"] == "query: "


def test_separate_encoders_part_from_the_same_start_and_go_on_from_their_checkpoint(config, tmp_path):
    config["model"]["share_encoder"] = False
    state = run(config)
    towers = state.model.towers()
    weight = "encoder.layer.0.attention.self.query.weight"
    first, second = (tower.get_parameter(weight) for tower in towers.values())
    assert not torch.equal(first, second)
    config["model"] = {
        "_target_": "NeMoAutoModelBiEncoder.from_pretrained",
        "name_or_path": str(tmp_path / "run/step-4"),
    }
    config["checkpoint"]["directory"] = str(tmp_path / "next")
    config["step_scheduler"]["max_steps"] = 1
    config["optimizer"]["lr"] = 0.0
    again = run(config).model
    assert not again.shared
    for name, value in state.model.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


def test_training_raises_recall_on_held_out_queries(config, tmp_path, records):
    config["step_scheduler"] |= {"max_steps": 40, "val_check_interval": 2}
    config["retrieval"]["cutoffs"] = [1, 5]
    run(config)
    first, *_, last = records(tmp_path / "run", "validation")
    assert {"recall@1", "recall@5", "mrr", "ndcg@5"} <= first.keys()
    assert first["mrr"] + 0.2 < last["mrr"]


RESUMED = {
    "full": {},
    "lora": {"peft": {"rank": 4, "dropout": 0.2}},
    "learned temperature": {"model": {"learn_temperature": True}},
    "lora and learned temperature": {"model": {"learn_temperature": True}, "peft": {"rank": 4}},
    "gradient cache": {"retrieval": {"gradient_cache_chunk": 3}},
    "frozen embeddings": {"freeze": {"patterns": ["*embeddings*"]}},
    "separate": {"model": {"share_encoder": False}},
    "workers and draws": {
        "dataset": {"negatives_per_query": 1, "random_negatives": 1},
        "dataloader": {"num_workers": 2},
    },
}


@pytest.mark.parametrize("case", RESUMED)
def test_a_resumed_run_is_bit_equal_to_one_that_never_stopped(config, case, tmp_path):
    for section, values in RESUMED[case].items():
        config[section] = {**config.get(section, {}), **values}
    config["step_scheduler"] |= {"max_steps": 8, "checkpoint_interval": 4}
    run(copy.deepcopy(config))
    config["restore_from"] = {"path": str(tmp_path / "run/step-4")}
    config["checkpoint"]["directory"] = str(tmp_path / "resumed")
    run(config)
    files_equal(tmp_path / "run/step-8", tmp_path / "resumed/step-8")


def test_a_learned_temperature_is_trained_saved_and_read_again(config, tmp_path):
    config["model"]["learn_temperature"] = True
    learned = run(config).model.temperature.value()
    assert learned != pytest.approx(0.05)
    assert load_file(tmp_path / "run/step-4/temperature.safetensors")["log_inverse"].exp().item() == pytest.approx(
        1 / learned
    )
    config["model"]["name_or_path"] = str(tmp_path / "run/step-4")
    config["checkpoint"]["directory"] = str(tmp_path / "next")
    config["optimizer"]["lr"] = 0.0
    assert run(config).model.temperature.value() == pytest.approx(learned)


@pytest.mark.parametrize("learned", [False, True])
def test_peft_reads_the_adapters_onto_the_plain_encoder(config, encoder, tmp_path, learned, recwarn):
    from peft import PeftModel
    from transformers import AutoModel

    config["peft"] = {"rank": 4}
    config["model"]["learn_temperature"] = learned
    state = run(config)
    peer = PeftModel.from_pretrained(AutoModel.from_pretrained(encoder), tmp_path / "run/step-4").eval()
    assert not [w for w in recwarn if "adapter keys" in str(w.message)]
    tokens = state.processor(TEXTS, padding=True, return_tensors="pt")
    mine = state.model.tower("query").eval()
    with torch.no_grad():
        torch.testing.assert_close(
            peer(**tokens).last_hidden_state[0, :5], mine(**tokens).last_hidden_state[0, :5], atol=1e-6, rtol=1e-5
        )


def test_merging_gives_a_plain_directory_with_the_same_embeddings(config, tmp_path, automodel):
    from sentence_transformers import SentenceTransformer

    config["peft"] = {"rank": 4}
    config["model"]["learn_temperature"] = True
    state = run(config)
    code, _, err = automodel("checkpoint", "merge", tmp_path / "run/step-4", tmp_path / "merged")
    assert code == 0, err
    peer = SentenceTransformer(str(tmp_path / "merged"), device="cpu")
    torch.testing.assert_close(
        torch.tensor(peer.encode_document(TEXTS)), embeddings_of(state, "document"), atol=1e-5, rtol=1e-5
    )
    merged = load_file(tmp_path / "merged/temperature.safetensors")
    assert torch.equal(merged["log_inverse"], state.model.temperature.log_inverse)


def test_accumulation_says_how_many_negatives_a_query_has(config, capfd):
    config["step_scheduler"] |= {"grad_accumulation_steps": 3, "max_steps": 1}
    run(config)
    said = capfd.readouterr().err
    assert "AM399" in said
    assert "those of 7 other queries, not of 23" in said


def test_evaluation_of_the_checkpoint_gives_what_the_last_validation_gave(config, tmp_path, automodel, records):
    run(config)
    (last,) = records(tmp_path / "run", "validation")
    (tmp_path / "cfg.yaml").write_text(json.dumps(config))
    code, out, err = automodel(
        "evaluate", "retrieval", "-c", tmp_path / "cfg.yaml", "--json", "--restore_from.path", tmp_path / "run/step-4"
    )
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])
    assert 0 < found["mrr"] < 1
    assert all(found[name] == pytest.approx(last[name], abs=1e-6) for name in ("recall@1", "mrr", "ndcg@10", "loss"))


def test_a_loss_of_another_kind_is_refused(config):
    config["loss_fn"] = {"_target_": "torch.nn.CrossEntropyLoss"}
    with pytest.raises(am.InputError, match="does not compare queries with documents"):
        run(config)


def test_a_model_from_config_starts_from_the_seed(config, encoder):
    config["model"] = {"_target_": "NeMoAutoModelBiEncoder.from_config", "name_or_path": str(encoder)}
    assert run(config).scheduler.step == 4


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_decoder_s_last_token_is_the_text_s_on_either_side_of_padding(config, tmp_path, side):
    from retrieval_made import make_word_tokenizer
    from tiny import llama_config
    from transformers import LlamaModel

    torch.manual_seed(0)
    LlamaModel(llama_config()).save_pretrained(tmp_path / "llama")
    make_word_tokenizer(tmp_path / "llama", padding_side=side)
    config["model"] |= {"name_or_path": str(tmp_path / "llama"), "pooling": "last_token"}
    state = run(config)
    state.model.eval()
    padded = state.processor(TEXTS, padding=True, return_tensors="pt")
    assert int(padded["attention_mask"][1, -1]) == (side == "left")
    with torch.no_grad():
        _, together = state.model(document={k: padded[k] for k in ("input_ids", "attention_mask")})
    torch.testing.assert_close(together, embeddings_of(state, "document"), atol=1e-5, rtol=1e-4)


def test_a_tokenizer_with_more_tokens_than_the_model_embeds_is_refused_before_the_first_step(config, tmp_path):
    from transformers import BertConfig, BertModel

    small = BertConfig(vocab_size=10, hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=4)
    BertModel(small).save_pretrained(tmp_path / "small")
    config["tokenizer"] = {"name_or_path": config["model"]["name_or_path"]}
    config["model"]["name_or_path"] = str(tmp_path / "small")
    with pytest.raises(am.InputError, match="has 30 tokens and the model embeds 10"):
        run(config)


def test_texts_longer_than_the_model_s_positions_are_refused_before_the_first_step(config):
    config["retrieval"]["document_max_length"] = 200
    with pytest.raises(am.InputError, match="128 positions") as error:
        run(config)
    (problem,) = error.value.diagnostics
    assert problem.code == "AM435"
    assert "set `retrieval.document_max_length: 128`" in problem.helps


@pytest.mark.parametrize(
    ("section", "values", "code"),
    [
        ("model", {"temperature": 0.0}, "AM386"),
        ("model", {"temperature": "hot"}, "AM211"),
        ("model", {"share_encoder": True, "document_name_or_path": "elsewhere"}, "AM386"),
        ("model", {"pooling": "max"}, "AM385"),
        ("dataset", {"random_negatives": -1}, "AM306"),
    ],
)
def test_an_argument_that_means_nothing_is_refused_with_its_place(config, section, values, code):
    config[section] |= values
    with pytest.raises(am.InputError) as error:
        run(config)
    assert [problem.code for problem in error.value.diagnostics] == [code]


@pytest.mark.parametrize(
    ("recipe", "kind"), [("TrainBiEncoderRecipe", "CrossEncoder"), ("TrainCrossEncoderRecipe", "BiEncoder")]
)
def test_a_model_of_the_other_kind_is_refused(config, recipe, kind):
    config |= {"recipe": recipe}
    config["model"]["_target_"] = f"NeMoAutoModel{kind}.from_pretrained"
    with pytest.raises(am.InputError, match=r"is for a .*-encoder, and `model` is a .*-encoder") as error:
        run(config)
    (problem,) = error.value.diagnostics
    assert problem.code == "AM388"
    assert problem.span is not None


@pytest.mark.parametrize(
    ("rows", "section", "values"),
    [
        (pairs(8, negatives=0), "dataloader", {"batch_size": 1}),
        (pairs(8, negatives=0), "loss_fn", {"_target_": "InfoNCE", "in_batch_negatives": False}),
        ([{**row, "negatives": [row["positive"]]} for row in pairs(1)], "dataloader", {"batch_size": 8}),
        (pairs(8), "dataset", {"negatives_per_query": 0, "_loss": False}),
    ],
)
def test_queries_with_nothing_to_be_compared_with_are_refused(config, tmp_path, rows, section, values):
    del config["validation_dataset"], config["step_scheduler"]["val_check_interval"]
    config["dataset"]["path"] = str(write_rows(tmp_path / "alone.jsonl", rows))
    if values.pop("_loss", True) is False:
        config["loss_fn"] = {"_target_": "InfoNCE", "in_batch_negatives": False}
    config[section] = {**config.get(section, {}), **values}
    with pytest.raises(am.InputError, match="nothing to learn") as error:
        run(config)
    (problem,) = error.value.diagnostics
    assert problem.code == "AM387"
    assert "`dataset.random_negatives`" in problem.helps[0]


def test_data_of_another_kind_are_refused(config, tmp_path):
    from tiny import write_squad

    squad = {"_target_": "SquadDataset", "path": str(write_squad(tmp_path / "squad.json")), "max_seq_length": 64}
    config["dataset"] = {**squad, "tokenizer_name_or_path": config["model"]["name_or_path"]}
    del config["validation_dataset"]
    with pytest.raises(am.InputError, match="not a data set of queries and documents"):
        run(config)


def test_documents_may_start_from_an_encoder_of_their_own(config, tmp_path):
    other = make_encoder(tmp_path / "other", seed=7)
    config["model"]["document_name_or_path"] = str(other)
    config["optimizer"]["lr"] = 0.0
    model = run(config).model
    assert torch.equal(
        model.document_encoder.embeddings.word_embeddings.weight,
        load_file(other / "model.safetensors")["embeddings.word_embeddings.weight"],
    )
    assert not torch.equal(
        model.document_encoder.embeddings.word_embeddings.weight,
        model.query_encoder.embeddings.word_embeddings.weight,
    )
