"""Training on conversations, instructions and text, from the config to the checkpoint."""

import json

import pytest
from chat_templates import CHATML, make_chat_tokenizer
from tiny import llama_config, make_model

import automodel_core as am


@pytest.fixture(scope="module")
def chat_llama(tmp_path_factory):
    directory = make_model(tmp_path_factory.mktemp("chat"), llama_config(vocab_size=310), tokenizer=False)
    return make_chat_tokenizer(directory, CHATML)


@pytest.fixture
def chat_config(small_config, chat_llama, tmp_path):
    rows = [
        {
            "messages": [
                {"role": "user", "content": f"How is bird {n}?"},
                {"role": "assistant", "content": "It is rare." if n % 2 else "It is old and slow."},
            ]
        }
        for n in range(24)
    ]
    (tmp_path / "chat.jsonl").write_text("\n".join(map(json.dumps, rows)))
    small_config["model"]["name_or_path"] = str(chat_llama)
    small_config["dataset"] = {"_target_": "ChatDataset", "path": str(tmp_path / "chat.jsonl"), "max_seq_length": 64}
    small_config["validation_dataset"] = {"split": "validation"}
    small_config["step_scheduler"] |= {"val_check_interval": 2, "max_steps": 6, "checkpoint_interval": 3}
    small_config["optimizer"]["lr"] = 1e-2
    return small_config


def test_a_run_on_conversations_learns_and_validates_on_rows_it_never_saw(chat_config, records, tmp_path):
    am.run(chat_config)
    losses = [step["loss"] for step in records(tmp_path / "run", "step")]
    assert losses[-1] < losses[0] - 0.5
    (first, *_) = records(tmp_path / "run", "validation")
    assert first["loss"] > 0


def test_a_run_that_is_resumed_in_mid_epoch_with_workers_goes_on_bit_for_bit(chat_config, records, tmp_path):
    chat_config["dataloader"]["num_workers"] = 2
    am.run(chat_config)
    whole = [step["loss"] for step in records(tmp_path / "run", "step")]
    chat_config["checkpoint"]["directory"] = str(tmp_path / "again")
    am.run(chat_config, overrides={"step_scheduler.max_steps": 3})
    am.run(chat_config, overrides={"restore_from.path": "latest"})
    assert [step["loss"] for step in records(tmp_path / "again", "step")] == whole


def test_another_output_directory_takes_the_tokens_from_the_cache(chat_config, tmp_path):
    first = am.run(chat_config)
    chat_config["checkpoint"]["directory"] = str(tmp_path / "elsewhere")
    second = am.run(chat_config)
    assert not first.run.stream.loader.dataset.reused
    assert second.run.stream.loader.dataset.reused


def test_a_template_of_one_s_own_is_saved_with_the_tokenizer_and_merged(chat_config, automodel, tmp_path):
    from transformers import AutoTokenizer

    template = (
        "{% for m in messages %}{{ m['role'] }}>{{ m['content'] }}{{ eos_token }}{% endfor %}"
        "{% if add_generation_prompt %}assistant>{% endif %}"
    )
    chat_config["dataset"]["chat_template"] = template
    am.run(chat_config | {"peft": {"rank": 2}})
    checkpoint, merged = tmp_path / "run" / "step-6", tmp_path / "merged"
    code, _, err = automodel("checkpoint", "merge", checkpoint, merged)
    assert code == 0, err
    for directory in (checkpoint, merged):
        assert AutoTokenizer.from_pretrained(directory).chat_template == template
    assert AutoTokenizer.from_pretrained(chat_config["model"]["name_or_path"]).chat_template == CHATML.text


def test_names_and_keys_of_other_systems_mean_the_same(chat_config, automodel, tmp_path):
    """A data section as it is written elsewhere, but for the keys that have no counterpart."""
    rows = [{"prompt": f"How is {n}?", "completion": "Old."} for n in range(20)]
    for split in ("train", "validation"):
        (tmp_path / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    home = "nemo_automodel.components.datasets.llm"
    target = f"{home}.column_mapped_text_instruction_dataset.ColumnMappedTextInstructionDataset"
    for section, split in (("dataset", "train"), ("validation_dataset", "validation")):
        chat_config[section] = {
            "_target_": target,
            "path_or_dataset_id": str(tmp_path / f"{split}.jsonl"),
            "split": split,
            "column_mapping": {"question": "prompt", "answer": "completion"},
            "seq_length": 64,
            "limit_dataset_samples": 16,
        }
    recipe = am.run(chat_config)
    assert len(recipe.run.stream.loader.dataset) == 16
    chat_config["dataset"] = {
        "_target_": f"{home}.chat_dataset.ChatDataset",
        "path_or_dataset_id": str(tmp_path / "chat.jsonl"),
    }
    chat_config["validation_dataset"] = {"split": "validation"}
    chat_config["checkpoint"]["directory"] = str(tmp_path / "chat")
    assert am.run(chat_config).run.scheduler.finished


def test_text_is_pretrained_on_in_blocks_without_padding(chat_config, tmp_path, records):
    (tmp_path / "train.txt").write_text("The river is slow and the bird is rare. " * 100)
    chat_config["dataset"] = {"_target_": "TextDataset", "path": str(tmp_path / "train.txt"), "max_seq_length": 32}
    del chat_config["validation_dataset"], chat_config["step_scheduler"]["val_check_interval"]
    am.run(chat_config, route="pretrain llm")
    losses = [step["loss"] for step in records(tmp_path / "run", "step")]
    assert losses[-1] < losses[0] - 0.5
