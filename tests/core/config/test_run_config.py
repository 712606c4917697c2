"""The seed's own YAML, verbatim, and what a run sees of its config."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from automodel_core.config import Component, RunConfig, Vocabulary, core_vocabulary, load_run_config
from automodel_core.config.source import read_yaml_text
from automodel_core.errors import InputError

SEED = Path(__file__).parents[2] / "data" / "seed.yaml"


@pytest.fixture
def config(vocabulary: Vocabulary) -> RunConfig:
    return load_run_config(SEED, (), vocabulary)


def test_the_seeds_yaml_gives_the_typed_values_that_it_writes(config: RunConfig) -> None:
    steps = config.step_scheduler
    assert (steps.max_steps, steps.num_epochs, steps.grad_accumulation_steps) == (1000, 1, 4)
    assert (steps.val_check_interval, steps.checkpoint_interval, steps.log_interval) == (100, 500, 10)
    assert (config.dist_env.master_addr, config.dist_env.master_port) == ("localhost", 29500)
    assert config.rng.seed == 42
    assert config.model.target == "nemo_automodel.models.llm.NemotronHForCausalLM"
    assert config.model.name_or_path == "meta-llama/Llama-3.2-1B"
    assert (config.compile.enabled, config.compile.backend) == (False, "inductor")
    assert config.clip_grad_norm.max_norm == 1.0
    assert (config.distributed.strategy, config.distributed.dp_size) == ("fsdp2", "auto")
    assert (config.distributed.tp_size, config.distributed.cp_size) == (1, 1)
    assert config.loss_fn == Component("torch.nn.CrossEntropyLoss", {}, "loss_fn")
    assert config.dataset.max_seq_length == 2048
    assert dict(config.validation_dataset.kwargs) == {"split": "validation"}
    assert config.packed_sequence.enabled is False
    assert (config.dataloader.batch_size, config.dataloader.num_workers) == (4, 4)
    assert config.dataloader.pin_memory is True
    assert dict(config.optimizer.kwargs) == {"lr": 2.0e-5, "weight_decay": 0.01}
    assert dict(config.lr_scheduler.kwargs) == {"warmup_steps": 50, "min_lr": 1.0e-6}


def test_the_seeds_overrides_change_it(vocabulary: Vocabulary) -> None:
    words = ("--optimizer.lr", "1e-4", "--step_scheduler.max_steps", "500", "--distributed.tp_size", "2")
    config = load_run_config(SEED, words, vocabulary)
    assert (config.optimizer.lr, config.step_scheduler.max_steps, config.distributed.tp_size) == (1e-4, 500, 2)
    assert [override.name for override in config.overrides] == [
        "optimizer.lr",
        "step_scheduler.max_steps",
        "distributed.tp_size",
    ]


def test_what_the_config_leaves_out_has_defaults_or_is_none(config: RunConfig) -> None:
    assert config.checkpoint.directory == "checkpoints"
    assert config.restore_from.path is None
    assert config.recipe is None
    assert load_run_config({}, (), core_vocabulary(), required=()).loss_fn is None
    assert load_run_config({}, (), core_vocabulary(), required=()).clip_grad_norm.max_norm == 1.0


def test_given_tells_a_section_that_is_written_from_its_defaults(config: RunConfig) -> None:
    assert config.given("compile")
    assert not config.given("peft")
    assert not config.given("fp8")


def test_a_value_knows_its_place_and_a_default_has_none(config: RunConfig) -> None:
    span = config.span("optimizer.lr")
    assert span is not None
    assert span.text.strip() == "lr: 2.0e-5"
    assert config.span("compile.fullgraph") is None
    assert config.source == SEED


def test_a_section_that_does_not_exist_is_an_attribute_error_with_a_suggestion(config: RunConfig) -> None:
    with pytest.raises(AttributeError, match="did you mean `optimizer`"):
        _ = config.optimiser


def test_the_resolved_config_loads_to_the_same_config(config: RunConfig, vocabulary: Vocabulary) -> None:
    again = load_run_config(read_yaml_text(config.to_yaml()).to_data(), (), vocabulary)
    assert again.sections == config.sections
    assert again.resolved() == config.resolved()
    assert "peft" not in config.resolved()


def test_dollar_signs_survive_in_the_resolved_config() -> None:
    data = {"dataset": {"_target_": "torch.nn.Identity", "text": "a $${x} ${env:V}"}}
    config = load_run_config(data, required=(), environment={"V": "${y}"})
    assert config.dataset.text == "a ${x} ${y}"
    again = load_run_config(read_yaml_text(config.to_yaml()).to_data(), required=(), environment={})
    assert again.dataset.text == config.dataset.text


def test_a_config_copies_and_pickles(config: RunConfig) -> None:
    assert copy.deepcopy(config).sections == config.sections
    assert pickle.loads(pickle.dumps(config)).resolved() == config.resolved()


def test_inert_keys_are_kept_as_extras() -> None:
    config = load_run_config({"x-mine": {"a": [1]}, "_note": 2, "ci": {"time": 3}}, required=())
    assert dict(config.extras) == {"x-mine": {"a": [1]}, "_note": 2, "ci": {"time": 3}}


def test_recipe_is_a_text() -> None:
    assert load_run_config({"recipe": "finetune"}, required=()).recipe == "finetune"


def test_a_reference_that_fails_is_not_reported_a_second_time_as_a_wrong_type(problems: Any) -> None:
    found = problems("rng: {seed: '${env:NOPE}'}\ncompile: {enabled: '${rng.sed}'}\n")
    assert [d.code for d in found] == ["AM121", "AM120"]


def test_the_environment_feeds_a_number_and_an_override_may_refer_to_it(problems: Any) -> None:
    assert problems("peft: {alpha: '${env:LR}'}")[0].code == "AM142"
    assert problems("peft: {alpha: 1}", "peft.alpha=${env:LR}", "--rng.seed", "${step_scheduler.max_steps}")[
        0
    ].code == ("AM120")
    assert problems("peft: {alpha: 1}", "peft.alpha=${env:LR}") == ()


def test_required_sections_can_be_chosen() -> None:
    with pytest.raises(InputError, match="`dataset` is missing"):
        load_run_config({"x-a": 1}, required=("dataset",))


def test_loading_needs_no_torch_and_little_time() -> None:
    code = (
        "import sys, time; start = time.process_time();"
        "import automodel_core.config as c; light = {'yaml', 'cattrs', 'difflib'} & set(sys.modules);"
        f"\ntry: c.load_run_config({str(SEED)!r}, ('--optimizer.lr', '1e-4'))"
        "\nexcept Exception as e: print(type(e).__name__, end=' ')"
        "\nheavy = {'torch', 'numpy', 'transformers', 'safetensors'} & set(sys.modules);"
        "print(sorted(light), sorted(heavy), time.process_time() - start < 0.5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "InputError [] [] True"
