"""Users change a run through hooks: objects from Python, files on the command line."""

import json
import subprocess
import sys

import pytest
import torch

import automodel_core as am


class Recorder:
    def __init__(self):
        self.events = []

    @am.hookimpl
    def stage_finished(self, stage):
        self.events.append(str(stage.stage))

    @am.hookimpl
    def run_started(self, run):
        self.events.append("started")

    @am.hookimpl
    def step_finished(self, sample):
        self.events.append(sample.step)

    @am.hookimpl
    def validation_finished(self, sample):
        self.events.append("validation")

    @am.hookimpl
    def checkpoint_saved(self, step, directory):
        self.events.append(f"saved {step}")

    @am.hookimpl
    def run_finished(self, outcome):
        self.events.append(outcome)


def test_events_come_in_the_order_of_the_seed(small_config):
    small_config["validation_dataset"] = {"split": "validation"}
    small_config["step_scheduler"] |= {"max_steps": 2, "val_check_interval": 2}
    recorder = Recorder()
    am.run(small_config, route="finetune llm", plugins=[recorder])
    assert recorder.events[-6:] == ["started", 1, 2, "validation", "saved 2", "finished"]
    assert recorder.events[:-6] == ["load", "device"]


def test_an_object_overrides_a_builder(small_config):
    class MyHooks:
        @am.hookimpl
        def build_optimizer(self, config, model):
            return torch.optim.SGD(model.parameters(), lr=config.optimizer.lr * 2)

    recipe = am.run(small_config, route="finetune llm", plugins=[MyHooks()])
    assert isinstance(recipe.run.optimizer, torch.optim.SGD)
    assert recipe.run.optimizer.param_groups[0]["lr"] == 2e-3


def test_a_subclass_of_the_recipe_overrides_a_builder_as_a_method(small_config):
    from automodel_core.training.recipe import run_recipe
    from automodel_llm.recipes.train_ft import TrainFinetuneRecipe

    class Mine(TrainFinetuneRecipe):
        def build_loss_fn(self, config):
            inner = super().build_loss_fn(config)
            return lambda logits, labels: inner(logits, labels) * 3

    mine = run_recipe(Mine, small_config)
    batch = next(mine.run.stream.loader.batches(0))
    with torch.no_grad():
        by_mine = mine.host.build("evaluate", run=mine.run, batch=batch)
        inner = TrainFinetuneRecipe.build_loss_fn(mine, mine.config)
        logits = mine.run.model(batch["input_ids"], attention_mask=batch.get("attention_mask")).logits
    assert float(by_mine.total) == pytest.approx(3 * float(inner(logits, batch["labels"])), rel=1e-5)


def test_a_failing_observer_ends_nothing_and_is_reported_once(small_config, capfd):
    class Bad:
        @am.hookimpl
        def step_finished(self, sample):
            raise RuntimeError("observer broke")

    recipe = am.run(small_config, route="finetune llm", plugins=[Bad()])
    assert recipe.run.scheduler.finished
    assert capfd.readouterr().err.count("observer broke") == 1


def test_a_builder_that_fails_names_its_hook_and_plugin(small_config):
    class Broken:
        @am.hookimpl
        def build_loss_fn(self):
            raise KeyError("no loss")

    with pytest.raises(KeyError) as error:
        am.run(small_config, route="finetune llm", plugins=[Broken()])
    assert any("build_loss_fn" in note and "Broken" in note for note in error.value.__notes__)


def test_the_model_trains_again_after_a_validation_even_one_that_fails(small_config):
    modes = []

    class Watch:
        @am.hookimpl(wrapper=True)
        def evaluate(self, run, batch):
            modes.append((run.model.training, torch.is_grad_enabled()))
            yield
            raise RuntimeError("validation broke")

        @am.hookimpl
        def run_finished(self, outcome):
            modes.append(outcome)

    watch = Watch()
    small_config["validation_dataset"] = {"split": "validation"}
    small_config["step_scheduler"] |= {"val_check_interval": 1}
    from automodel_core.training.recipe import run_recipe
    from automodel_llm.recipes.train_ft import TrainFinetuneRecipe

    seen = []

    class Keep(TrainFinetuneRecipe):
        def setup(self):
            super().setup()
            seen.append(self.run)

    with pytest.raises(RuntimeError, match="validation broke"):
        run_recipe(Keep, small_config, plugins=[watch])
    assert modes == [(False, False), "failed"]
    assert seen[0].model.training
    assert torch.is_grad_enabled()


def test_a_batch_key_that_the_model_does_not_take_is_refused_before_the_first_step(small_config):
    class Misspelt:
        @am.hookimpl(wrapper=True)
        def build_dataloader(self, split):
            import attrs

            loader = yield
            if split != "train":
                return loader
            inner = loader.collate
            return attrs.evolve(loader, collate=lambda samples: {"input_id": 0, **inner(samples)})

    with pytest.raises(am.InputError, match="`input_id`"):
        am.run(small_config, route="finetune llm", plugins=[Misspelt()])


def test_a_reader_of_the_log_that_goes_away_ends_nothing(small_config, tmp_path):
    """`automodel … 2>&1 | head -1`: the run goes on to its last checkpoint."""
    path = tmp_path / "cfg.yaml"
    path.write_text(json.dumps(small_config))
    command = [sys.executable, "-m", "automodel_core", "finetune", "llm", "-c", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=120) == 0
    assert (tmp_path / "run" / "step-4" / "manifest.json").exists()
