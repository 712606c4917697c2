"""What the weights are held in, and what is refused before the first step."""

import attrs
import pytest
import torch
from safetensors.torch import load_file
from tiny import llama_config, make_model, make_tokenizer

import automodel_core as am


@pytest.fixture
def tokenizer_elsewhere(tmp_path):
    return make_tokenizer(tmp_path / "elsewhere")


def test_weights_train_in_float32_whatever_the_files_hold_and_the_run_says_so(small_config, tmp_path, capfd):
    from transformers import AutoModelForCausalLM

    directory = make_model(tmp_path / "half", llama_config())
    AutoModelForCausalLM.from_pretrained(directory, dtype=torch.bfloat16).save_pretrained(directory)
    small_config["model"]["name_or_path"] = str(directory)
    recipe = am.run(small_config, route="finetune llm")
    assert {p.dtype for p in recipe.run.model.parameters()} == {torch.float32}
    assert "trainable (100.00 %) in float32, on cpu" in capfd.readouterr().err


def test_bfloat16_is_kept_when_asked_for_and_written(small_config, tmp_path):
    small_config["model"]["dtype"] = "bfloat16"
    am.run(small_config, route="finetune llm")
    saved = load_file(tmp_path / "run" / "step-4" / "model.safetensors")
    assert {t.dtype for t in saved.values()} == {torch.bfloat16}


def test_adapters_are_float32_on_a_half_precision_base(small_config, capfd):
    small_config["model"]["dtype"] = "bfloat16"
    small_config["peft"] = {"rank": 4}
    am.run(small_config, route="finetune llm")
    assert "in float32, on cpu" in capfd.readouterr().err


def test_float16_is_refused_on_a_cpu(small_config):
    small_config["model"]["dtype"] = "float16"
    with pytest.raises(am.InputError, match="cannot be trained on a CPU"):
        am.run(small_config, route="finetune llm")


def test_a_tokenizer_larger_than_the_embedding_is_refused(small_config, tmp_path):
    directory = make_model(tmp_path / "small", llama_config(vocab_size=200))
    small_config["model"]["name_or_path"] = str(directory)
    small_config["dataset"]["tokenizer_name_or_path"] = str(directory)
    with pytest.raises(am.InputError, match=r"the tokenizer has \d+ tokens and the model embeds 200"):
        am.run(small_config, route="finetune llm")


def test_a_loss_that_is_not_finite_ends_the_run_before_the_step_is_taken(small_config, llama):
    class Poison:
        @am.hookimpl(wrapper=True)
        def build_loss_fn(self):
            loss = yield
            return lambda logits, labels: loss(logits, labels) * float("nan")

    with pytest.raises(am.RunFailedError, match="loss of step 1 is nan; the step was not taken"):
        am.run(small_config, route="finetune llm", plugins=[Poison()])


def test_a_gradient_that_is_not_finite_names_its_parameter(small_config):
    class Poison:
        @am.hookimpl
        def run_started(self, run):
            weight = run.model.get_parameter("model.layers.1.mlp.up_proj.weight")
            weight.register_hook(lambda gradient: gradient * float("inf"))

    with pytest.raises(am.RunFailedError, match=r"gradient of `model\.layers\.1\.mlp\.up_proj\.weight` is not finite"):
        am.run(small_config, route="finetune llm", plugins=[Poison()])


def test_the_tokenizer_of_the_config_is_that_of_the_data_as_well(small_config, tokenizer_elsewhere, tmp_path):
    """A model directory without a tokenizer: one key names it for data, checkpoints and generation."""
    directory = make_model(tmp_path / "bare", llama_config(), tokenizer=False)
    small_config["model"]["name_or_path"] = str(directory)
    del small_config["dataset"]["tokenizer_name_or_path"]
    with pytest.raises(am.InputError, match="no tokenizer can be loaded"):
        am.run(small_config, route="finetune llm")
    small_config["tokenizer"] = {"name_or_path": str(tokenizer_elsewhere)}
    recipe = am.run(small_config, route="finetune llm")
    assert (tmp_path / "run" / "step-4" / "tokenizer.json").exists()
    assert recipe.run.stream.loader.dataset.tokenizer.name_or_path == str(tokenizer_elsewhere)


def test_the_tokenizer_that_the_data_name_is_saved_with_the_checkpoint(small_config, tokenizer_elsewhere, tmp_path):
    """A model directory without a tokenizer: what the data were written with goes with the weights."""
    directory = make_model(tmp_path / "bare", llama_config(), tokenizer=False)
    small_config["model"]["name_or_path"] = str(directory)
    small_config["dataset"]["tokenizer_name_or_path"] = str(tokenizer_elsewhere)
    am.run(small_config, route="finetune llm")
    saved = tmp_path / "run" / "step-4" / "tokenizer.json"
    assert saved.read_text() == (tokenizer_elsewhere / "tokenizer.json").read_text()


def test_a_validation_without_supervision_is_a_warning_and_no_perfect_score(small_config, capfd):
    class Blank:
        @am.hookimpl(wrapper=True)
        def build_dataloader(self, split):
            loader = yield
            if split == "train":
                return loader
            inner = loader.collate

            def blank(samples):
                batch = inner(samples)
                return {**batch, "labels": torch.full_like(batch["labels"], -100)}

            return attrs.evolve(loader, collate=blank)

    small_config["validation_dataset"] = {"split": "validation"}
    small_config["step_scheduler"] |= {"val_check_interval": 4}
    am.run(small_config, route="finetune llm", plugins=[Blank()])
    err = capfd.readouterr().err
    assert "warning: validation after step 4 had nothing to compare with" in err
    assert "loss=0.0000" not in err
