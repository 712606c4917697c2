"""What holds for every recipe that trains, as tests. A plugin's author derives a class and gives it a config.

::

    from automodel_core.testing.recipe_suite import RecipeSuite

    class TestMyRecipe(RecipeSuite):
        route = "finetune mine"

        @pytest.fixture
        def config(self, tmp_path):
            return {"model": {...}, "dataset": {...}, "optimizer": {...}}

The config is complete, takes a second for a few steps, and has a validation; at least eight samples train. The suite
sets ``step_scheduler``, ``dataloader.batch_size``, ``checkpoint`` and ``restore_from`` itself.
"""

from __future__ import annotations

import copy
import os
import signal
from pathlib import Path
from typing import Any, ClassVar

import pytest

import automodel_core as am
from automodel_core.checkpoint.manifest import read_manifest
from automodel_core.plugins import Catalog
from automodel_core.testing.observed import EventLog, differing, records, tensors
from automodel_core.training.merging import merge_checkpoint
from automodel_core.training.preemption import PreemptedError


class RecipeSuite:
    """The tests. Every one runs the recipe as a user would, through its route."""

    route: ClassVar[str] = ""
    """The command and the domain, such as ``"finetune llm"``."""
    frozen: ClassVar[str] = ""
    """A pattern of parameter names that ``freeze.patterns`` can freeze, and that leaves something to train."""
    peft: ClassVar[dict[str, Any] | None] = {"rank": 2, "dropout": 0.1}
    """A ``peft`` section that fits the model; ``None`` for a recipe without linear layers."""
    same_over_micro_batches: ClassVar[bool] = True
    """Whether two micro-batches give the gradient of one that has both: not where samples of a batch see each other."""

    @pytest.fixture
    def config(self, tmp_path: Path) -> dict[str, Any]:
        """Return a config without the sections that the suite sets."""
        raise NotImplementedError

    def run(self, config: dict[str, Any], home: Path, *, plugins: Any = (), **sections: Any) -> Path:
        """Run on a copy of ``config`` with ``sections`` in ``home``, and return that."""
        given = copy.deepcopy(config)
        given.setdefault("dataloader", {})["batch_size"] = 2
        given["step_scheduler"] = {"max_steps": 4, "preemption_signal": None}
        for name, values in sections.items():
            given[name] = {**given.get(name, {}), **values}
        given["checkpoint"] = {**given.get("checkpoint", {}), "directory": str(home)}
        am.run(given, route=self.route, plugins=plugins)
        return home

    def test_it_validates_and_saves_when_due_and_says_so(self, config: dict[str, Any], tmp_path: Path) -> None:
        log = EventLog()
        steps = {"val_check_interval": 2, "checkpoint_interval": 3}
        home = self.run(config, tmp_path / "run", plugins=[log], step_scheduler=steps)
        assert log.events == [
            *("started", "step 1", "step 2", "validated 2", "step 3", "saved 3"),
            *("step 4", "validated 4", "saved 4", "finished"),
        ]
        assert [record["step"] for record in records(home, "step")] == [1, 2, 3, 4]
        assert all(record["targets"] > 0 for record in records(home, "validation"))
        assert (home / "latest").read_text(encoding="utf-8").strip() == "step-4"
        assert read_manifest(home / "step-4").step == 4

    def test_a_resumed_run_is_bit_equal_to_one_that_never_stopped(self, config: dict[str, Any], tmp_path: Path) -> None:
        steps = {"max_steps": 6, "checkpoint_interval": 3, "grad_accumulation_steps": 2}
        straight = self.run(config, tmp_path / "straight", step_scheduler=steps)
        again = {"path": str(straight / "step-3")}
        resumed = self.run(config, tmp_path / "resumed", step_scheduler=steps, restore_from=again)
        assert records(resumed, "step") == records(straight, "step")[3:]
        assert not differing(straight / "step-6", resumed / "step-6")

    def test_adapters_train_alone_and_go_on_from_where_they_were(self, config: dict[str, Any], tmp_path: Path) -> None:
        if self.peft is None:
            pytest.skip("the recipe has no layer that adapters fit")
        steps = {"max_steps": 4, "checkpoint_interval": 2}
        straight = self.run(config, tmp_path / "straight", step_scheduler=steps, peft=self.peft)
        first, last = (tensors(straight / f"step-{step}") for step in (2, 4))
        adapters = [name for name in last if name.startswith("adapter_model.safetensors:")]
        assert adapters
        assert all(".lora_A." in name or ".lora_B." in name or not first[name].equal(last[name]) for name in adapters)
        assert any(not first[name].equal(last[name]) for name in adapters)
        again = {"path": str(straight / "step-2")}
        resumed = self.run(config, tmp_path / "resumed", step_scheduler=steps, peft=self.peft, restore_from=again)
        assert not differing(straight / "step-4", resumed / "step-4")

    def merged_model(self, config: dict[str, Any], directory: Path) -> dict[str, Any]:
        """Return the ``model`` section that loads the merged ``directory``."""
        target, _, method = config["model"]["_target_"].rpartition(".")
        described = method == "from_config"  # by keys that a directory has no need of
        owner = target if described or method == "from_pretrained" else config["model"]["_target_"]
        kept = {} if described else config["model"]
        return {**kept, "_target_": f"{owner}.from_pretrained", "name_or_path": str(directory)}

    def test_merged_adapters_are_a_model_that_is_measured_the_same(
        self, config: dict[str, Any], tmp_path: Path
    ) -> None:
        if self.peft is None:
            pytest.skip("the recipe has no layer that adapters fit")
        steps = {"max_steps": 4, "val_check_interval": 4}
        adapted = self.run(config, tmp_path / "adapted", step_scheduler=steps, peft=self.peft)
        merge_checkpoint(adapted / "step-4", tmp_path / "merged", catalog=Catalog.discover())
        whole = {**config, "model": self.merged_model(config, tmp_path / "merged")}
        once = {"max_steps": 1, "val_check_interval": 1}
        merged = self.run(whole, tmp_path / "run", step_scheduler=once, optimizer={"lr": 0.0})
        (before,), (after,) = records(adapted, "validation"), records(merged, "validation")
        assert after["loss"] == pytest.approx(before["loss"], rel=1e-4)

    def test_frozen_weights_stay_and_the_others_move(self, config: dict[str, Any], tmp_path: Path) -> None:
        recipe: list[Any] = []

        class Look:
            @am.hookimpl
            def run_started(self, run: Any) -> None:
                recipe.append((run, {name: p.detach().clone() for name, p in run.model.named_parameters()}))

        self.run(config, tmp_path / "run", plugins=[Look()], freeze={"patterns": [self.frozen]})
        run, before = recipe[0]
        moved: list[tuple[str, bool]] = []
        stayed: list[tuple[str, bool]] = []
        for name, parameter in run.model.named_parameters():
            (stayed if parameter.detach().equal(before[name]) else moved).append((name, parameter.requires_grad))
        assert any(not trains for _, trains in stayed)
        assert moved
        assert all(trains for _, trains in moved)

    def test_the_gradient_does_not_depend_on_how_a_step_is_cut(self, config: dict[str, Any], tmp_path: Path) -> None:
        if not self.same_over_micro_batches:
            pytest.skip("samples of a micro-batch see each other")
        whole = self.run(config, tmp_path / "whole", dataloader={"batch_size": 4})
        cut = self.run(config, tmp_path / "cut", step_scheduler={"grad_accumulation_steps": 2})
        for one, other in zip(records(whole, "step"), records(cut, "step"), strict=True):
            assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
            assert one["grad_norm_before_clip"] == pytest.approx(other["grad_norm_before_clip"], rel=1e-3)

    def test_workers_read_the_same_samples(self, config: dict[str, Any], tmp_path: Path) -> None:
        alone = self.run(config, tmp_path / "alone")
        helped = self.run(config, tmp_path / "helped", dataloader={"num_workers": 2})
        assert records(alone, "step") == records(helped, "step")

    def test_a_signal_saves_and_ends_the_run(self, config: dict[str, Any], tmp_path: Path) -> None:
        class Signal:
            @am.hookimpl
            def step_finished(self, sample: Any) -> None:
                if sample.step == 2:
                    os.kill(os.getpid(), signal.SIGUSR1)

        told = {"max_steps": 4, "preemption_signal": "SIGUSR1"}
        with pytest.raises(PreemptedError):
            self.run(config, tmp_path / "stopped", plugins=[Signal()], step_scheduler=told)
        again = {"path": str(tmp_path / "stopped" / "step-2")}
        resumed = self.run(config, tmp_path / "resumed", step_scheduler=told, restore_from=again)
        straight = self.run(config, tmp_path / "straight", step_scheduler=told)
        assert not differing(straight / "step-4", resumed / "step-4")

    def test_the_loss_goes_down_on_what_it_sees_again_and_again(self, config: dict[str, Any], tmp_path: Path) -> None:
        home = self.run(config, tmp_path / "run", step_scheduler={"max_steps": 40}, dataloader={"batch_size": 4})
        losses = [record["loss"] for record in records(home, "step")]
        assert sum(losses[-8:]) < sum(losses[:8])

    @pytest.mark.parametrize("missing", ["model", "dataset", "optimizer"])
    def test_a_section_that_is_missing_is_named(self, config: dict[str, Any], tmp_path: Path, missing: str) -> None:
        del config[missing]
        with pytest.raises(am.InputError, match=f"`{missing}`"):
            self.run(config, tmp_path / "run")
