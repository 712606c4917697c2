"""Everything of a run that can be tried before a weight is read, and all that is wrong with it at once.

What is examined goes through the same hooks as the run itself, so that whoever overrides a part is asked about it.
Nothing is written.
"""

from __future__ import annotations

import contextlib
import inspect
import io
from typing import TYPE_CHECKING, Any, Final

import attrs
import torch

from automodel_core.checkpoint.directory import Checkpoint
from automodel_core.checkpoint.run_files import SavedState
from automodel_core.config import Component, RunConfig
from automodel_core.config.components import resolve_target
from automodel_core.data.loader import OrderedLoader
from automodel_core.diagnostics.collecting import Problems
from automodel_core.infrastructure.build import ModelBuild
from automodel_core.plugins import RunHost
from automodel_core.plugins.layers import Layer
from automodel_core.specs import NOTHING
from automodel_core.training.component_check import complete_component, problems_by_section
from automodel_core.training.model_component import is_described
from automodel_core.training.random_state import seed_everything
from automodel_core.training.rehearsal import rehearse_optimizer, rehearse_schedule
from automodel_core.training.restoring import read_compatible_state
from automodel_core.training.run_state import ModelState

if TYPE_CHECKING:
    from automodel_core.training.recipe import BaseRecipe

FIRST_ROWS: Final = 64
"""So many rows of each split are read to find out whether they have the columns."""
_MAY_COME_LATER: Final = frozenset({"AM318", "AM387"})
"""What the first rows lack and others may have."""
_SECTIONS: Final = {"train": "dataset", "validation": "validation_dataset"}


@attrs.define
class Examination:
    """What a run consists of before weights are read. What could not be made is missing and in ``problems``."""

    recipe: BaseRecipe
    problems: Problems = attrs.field(factory=Problems)
    broken: frozenset[str] = frozenset()
    """Sections whose component cannot be built."""
    checkpoint: Checkpoint | None = None
    state: SavedState | None = None
    processor: Any = None
    loss_fn: Any = None
    described: ModelBuild | None = None
    """The model before weights are read; ``None`` for one that cannot be described without making it."""
    loaders: dict[str, OrderedLoader] = attrs.field(factory=dict)

    @property
    def config(self) -> RunConfig:
        return self.recipe.config

    @property
    def host(self) -> RunHost:
        return self.recipe.host

    def examine_all_but_data(self) -> None:
        """Check components, and try what is built of them beside the data: all of what works without another part."""
        wrong = problems_by_section(self.config)
        self.broken = frozenset(wrong)
        self.problems.found.extend(problem for found in wrong.values() for problem in found)
        seed_everything(self.config.rng.seed)
        with self.problems.collected():
            self.checkpoint = self.recipe.checkpoint_to_restore()
            if self.checkpoint is not None and self.recipe.trains:
                self.state = read_compatible_state(self.checkpoint, self.config)
        if "model" not in self.broken:
            with self.problems.collected():
                self.processor = self.host.build("build_processor", config=self.config)
        with torch.random.fork_rng(devices=[]):
            self._try_parts()
        if "model" not in self.broken and _is_described(self.host, self.config):
            with self.problems.collected():
                self.described = self.recipe.describe_model(self.checkpoint)

    def _try_parts(self) -> None:
        optimizer = self.config.optimizer
        if optimizer is not None and "optimizer" not in self.broken and answered_by_core(self.host, "build_optimizer"):
            with self.problems.collected():
                rehearse_optimizer(optimizer, self.config)
        if "loss_fn" not in self.broken:
            with self.problems.collected():
                self.loss_fn = self.host.build("build_loss_fn", config=self.config)

    def read_data(self, *, all_rows: bool) -> None:
        """Build the loader of every split, of all rows or of the first, and compare data and model."""
        if self.processor is None:
            return
        config = self.config if all_rows else first_rows(self.config, self.broken)
        found = Problems()
        for split in self.recipe.splits:
            if _SECTIONS[split] in self.broken:
                continue
            with found.collected(), _silenced(not all_rows):
                loader = self.host.build("build_dataloader", config=config, split=split, processor=self.processor)
                if loader is not NOTHING:
                    self.loaders[split] = loader
        if "train" in self.loaders and self.described is not None and self.loss_fn is not None:
            with found.collected(), _silenced(not all_rows):
                self.recipe.check_before_weights(self.model_state(self.described), self.loaders["train"])
        self.problems.found.extend(p for p in found.found if all_rows or p.code not in _MAY_COME_LATER)

    def try_schedule(self, total_steps: int | None) -> None:
        """Step the schedule as often as the run will; so many times as the config says where that is all it says."""
        schedule, limits = self.config.lr_scheduler, self.config.step_scheduler
        if total_steps is None and limits.num_epochs is None:
            total_steps = limits.max_steps
        if schedule is None or total_steps is None or self.broken & {"optimizer", "lr_scheduler"}:
            return
        if answered_by_core(self.host, "build_lr_scheduler") and answered_by_core(self.host, "build_optimizer"):
            with self.problems.collected():
                rehearse_schedule(schedule, self.config, total_steps)

    def model_state(self, build: ModelBuild) -> ModelState:
        """Return the described model with what it needs to be asked something: no value of a weight."""
        return ModelState(
            recipe=self.recipe.name,
            config=self.config,
            host=self.host,
            device=build.device,
            processor=self.processor,
            build=build,
            loss_fn=self.loss_fn,
        )


def answered_by_core(host: RunHost, hook: str) -> bool:
    """Return whether the core's own implementation of ``hook`` is the first that is asked."""
    order = host.call_order(hook)
    return bool(order) and order[0].layer is Layer.CORE


def first_rows(config: RunConfig, broken: frozenset[str]) -> RunConfig:
    """Return ``config`` with data sets of their first rows, not kept in the cache, where they take such arguments."""
    sections = dict(config.sections)
    for name in _SECTIONS.values():
        component = sections[name]
        if isinstance(component, Component) and name not in broken:
            sections[name] = _limited(component, config, name)
    return attrs.evolve(config, sections=sections)


def _limited(component: Component, config: RunConfig, section: str) -> Component:
    complete = complete_component(config, section)
    assert complete is not None
    taken = inspect.signature(resolve_target(component, config.vocabulary)).parameters
    limit = complete.kwargs.get("limit")
    few = min(limit, FIRST_ROWS) if type(limit) is int else FIRST_ROWS
    wanted = {"limit": few, "cache": False}
    return attrs.evolve(component, kwargs={**component.kwargs, **{k: v for k, v in wanted.items() if k in taken}})


def _is_described(host: RunHost, config: RunConfig) -> bool:
    return answered_by_core(host, "build_model") and is_described(config.model, config.vocabulary)


def _silenced(quiet: bool) -> contextlib.AbstractContextManager[Any]:
    """What a data set reports of its first rows is not true of all of them."""
    return contextlib.redirect_stderr(io.StringIO()) if quiet else contextlib.nullcontext()
