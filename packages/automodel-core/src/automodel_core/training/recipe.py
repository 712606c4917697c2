"""The base of every recipe: builders as methods, ``setup()``, and the loop."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import attrs

from automodel_core.checkpoint.config import CheckpointConfig
from automodel_core.checkpoint.directory import Checkpoint, open_checkpoint
from automodel_core.checkpoint.writer import CheckpointWriter
from automodel_core.config import RunConfig, load_run_config
from automodel_core.config.ranks import number_of_ranks
from automodel_core.config.rules import RULES
from automodel_core.data.loader import BatchStream, OrderedLoader
from automodel_core.data.preview import DataPreview
from automodel_core.diagnostics import Diagnostic, render
from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.hookspecs import hookimpl
from automodel_core.infrastructure.build import ModelBuild
from automodel_core.infrastructure.pipeline import describe_infrastructure, realise_infrastructure
from automodel_core.observability.json_lines import check_metrics_directory
from automodel_core.observability.observers import observers
from automodel_core.plugins import Catalog, RunHost, run_host
from automodel_core.plugins.choosing import declared_recipe
from automodel_core.plugins.core_defaults import load_core_defaults
from automodel_core.plugins.hook_table import hook_table
from automodel_core.plugins.project_file import check_project_plugins
from automodel_core.preflight.run_rules import sections_rule
from automodel_core.specs import NOTHING
from automodel_core.training.alternatives import recipe_that_runs
from automodel_core.training.batch_keys import check_model_inputs
from automodel_core.training.batches import Batch, StepLoss, add_losses
from automodel_core.training.component_check import check_components
from automodel_core.training.data_building import loader_of, refuse_packing
from automodel_core.training.device import choose_device
from automodel_core.training.examination import Examination
from automodel_core.training.file_check import all_problems, problems_of_files
from automodel_core.training.loop import train
from automodel_core.training.precision import check_precision
from automodel_core.training.preemption import PreemptedError, Preemption
from automodel_core.training.random_state import seed_everything
from automodel_core.training.restoring import check_base, restore_run
from automodel_core.training.run_state import ModelState, RunState
from automodel_core.training.step_scheduler import StepScheduler

SPELLING_WARNINGS: Final = frozenset({"AM910", "AM911", "AM916"})
"""Warnings about how a config is written, which concern every recipe."""


class BaseRecipe:
    """One kind of training.

    A recipe is the plugin of its own run: a method with the name of a hook is an implementation of it, and is asked
    after the user's plugins and before installed ones. Override builders as ordinary methods. Builders are never
    called directly, always through ``self.host``, so that an override by anybody takes effect.
    """

    not_model_inputs: ClassVar[frozenset[str]] = frozenset({"labels"})
    """Keys of a batch that the recipe keeps for itself and does not pass to ``model.forward``."""

    required_sections: ClassVar[tuple[str, ...]] = ("model", "dataset", "optimizer")
    """Sections without which a config cannot be run by this recipe."""

    trains: ClassVar[bool] = True
    """Whether there are steps: only then are warnings about the schedule of steps of use."""

    splits: ClassVar[tuple[str, ...]] = ("train", "validation")
    """The splits of data that the command reads, where the config has them."""

    alternatives: ClassVar[tuple[str, ...]] = ()
    """Recipes (``"module:Class"``) that ``recipe:`` of a config may name to be run by the same command instead."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in vars(cls).items():
            if name in hook_table() and callable(member):
                hookimpl(member)

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.host: RunHost
        self.run: RunState
        self._writer: CheckpointWriter | None = None
        self._described: ModelBuild | None = None

    @classmethod
    def main(
        cls,
        config_path: str | os.PathLike[str] | Mapping[str, Any],
        overrides: Sequence[str] | Mapping[str, Any] = (),
        plugins: Iterable[object] = (),
        plugin_files: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        """Run the recipe on a config. A recipe module has ``main = ItsRecipe.main``, which a route calls."""
        run_recipe(cls, config_path, overrides=overrides, plugins=plugins, plugin_files=plugin_files)

    @hookimpl
    def build_dataloader(self, config: RunConfig, split: str, processor: Any) -> Any:
        """Return the micro-batches of ``split``: its data set in the order of the seed, or as it lies for validation.

        Override ``build_dataset`` or ``build_collate`` instead, where those are enough.
        """
        refuse_packing(config)
        dataset = self.host.build("build_dataset", config=config, split=split, processor=processor)
        if dataset is NOTHING:
            return NOTHING
        collate = self.host.build("build_collate", config=config, split=split, processor=processor)
        return loader_of(config, split, dataset, collate)

    @hookimpl
    def forward_backward(self, run: RunState, group: Sequence[Batch], normaliser: float) -> StepLoss:
        """Accumulate the gradients of the group's summed loss over ``normaliser``, one micro-batch at a time."""
        losses = []
        for batch in group:
            loss = self.batch_loss(run, batch)
            (loss.total / normaliser).backward()
            losses.append(attrs.evolve(loss, total=loss.total.detach()))
        return add_losses(losses)

    @hookimpl
    def evaluate(self, run: ModelState, batch: Batch) -> StepLoss:
        """Return the summed loss of a validation batch: the same as in training, with the model in eval mode."""
        return self.batch_loss(run, batch)

    def batch_loss(self, run: ModelState, batch: Batch) -> StepLoss:
        """Return the summed loss over the targets of ``batch``, with its graph. Every recipe that trains has one."""
        raise NotImplementedError(f"`{type(self).__name__}` has neither `batch_loss` nor `forward_backward`")

    def execute(self) -> None:
        """Do what the recipe's command is for. A recipe that does not train overrides this."""
        try:
            self.setup()
            self.run_train_validation_loop()
        finally:
            self._close_writer()

    def setup(self) -> None:
        """Build every component through the builders and the pipeline; restore a checkpoint when asked to.

        What needs no weights comes first, and all that is wrong with it is raised at once: components, the checkpoint,
        the model's names, data, the schedule of steps and the checkpoint directory are known to be right then.
        """
        config, host = self.config, self.host
        found = Examination(self)
        found.examine_all_but_data()
        found.read_data(all_rows=not found.problems.found)
        found.problems.report()
        loader = found.loaders["train"]
        scheduler = host.build("build_step_scheduler", config=config, micro_batches_per_epoch=len(loader))
        found.try_schedule(scheduler.total_steps)
        found.problems.report()
        checkpoints = host.build("build_checkpoint_config", config=config)
        check_metrics_directory(config)
        writer = self._writer = CheckpointWriter(checkpoints)
        restored = found.checkpoint.path if found.checkpoint is not None else None
        if checkpoints.enabled:
            writer.prepare(resuming_from=restored)

        self._described = found.described
        ready = self.build_model_state(found.processor, found.checkpoint)
        if found.described is None:
            self.check_before_weights(ready, loader)
        self.check_before_training(ready, loader)
        self.run = self._run_state(found, ready, scheduler, checkpoints)
        if found.state is not None:
            restore_run(self.run, found.state)
        if checkpoints.enabled:
            writer.start(self.run.scheduler.step, resuming_from=restored)

    def _run_state(
        self, found: Examination, ready: ModelState, scheduler: StepScheduler, checkpoints: CheckpointConfig
    ) -> RunState:
        config, host = self.config, self.host
        assert self._writer is not None
        optimizer = host.build("build_optimizer", config=config, model=ready.model)
        schedule = host.build(
            "build_lr_scheduler", config=config, optimizer=optimizer, total_steps=scheduler.total_steps
        )
        run = RunState(
            **attrs.asdict(ready, recurse=False),
            optimizer=optimizer,
            lr_scheduler=None if schedule is NOTHING else schedule,
            stream=BatchStream(found.loaders["train"]),
            validation={name: loader for name, loader in found.loaders.items() if name != "train"},
            scheduler=scheduler,
            checkpoints=checkpoints,
            writer=self._writer,
        )
        run.parts = host.build("stateful_parts", run=run)
        return run

    def check(self) -> list[Diagnostic]:
        """Return everything that can be known to be wrong with a run before weights are read. Nothing is written.

        Of data only the first rows are read. A recipe whose command builds something else extends this.
        """
        found = Examination(self)
        found.examine_all_but_data()
        found.read_data(all_rows=False)
        if self.trains:
            found.try_schedule(None)
        return list(dict.fromkeys(found.problems.found))

    def begin(self) -> tuple[Checkpoint | None, Any]:
        """Check every component, seed the generators, and return the checkpoint to restore and the processor."""
        check_components(self.config)
        seed_everything(self.config.rng.seed)
        return self.checkpoint_to_restore(), self.host.build("build_processor", config=self.config)

    def check_before_weights(self, state: ModelState, loader: OrderedLoader) -> None:
        """Raise :class:`InputError` for data and model that do not fit, as far as that needs no value of a weight.

        The model of ``state`` is on the meta device wherever it can be described without being made. A recipe that
        knows more extends this.
        """
        with placed_at(self.config.span("dataset._target_")):
            batch = loader.first_batch()
        check_model_inputs(state.model, [key for key in batch if key not in self.not_model_inputs])
        check_precision(state.model, self.config.model.span)

    def check_before_training(self, state: ModelState, loader: OrderedLoader) -> None:
        """Raise :class:`InputError` for what would fail in the first step and needs the weights to be found out."""

    def describe_model(self, checkpoint: Checkpoint | None) -> ModelBuild:
        """Run the stages of the pipeline that read no weights. Raises :class:`InputError` with all that is wrong."""
        return describe_infrastructure(
            self.host,
            self.config,
            self.host.build("build_model", config=self.config),
            choose_device(),
            self.config.rng.seed,
            restore_directory=checkpoint.path if checkpoint is not None else None,
        )

    def build_model_state(self, processor: Any, checkpoint: Checkpoint | None) -> ModelState:
        """Build the model through the nine stages, with the weights of ``checkpoint`` when there is one."""
        config, host = self.config, self.host
        described, self._described = self._described, None
        build = realise_infrastructure(host, config, described or self.describe_model(checkpoint))
        if checkpoint is not None:
            check_base(checkpoint, build, config)
        loss_fn = host.build("build_loss_fn", config=config)
        return ModelState(
            recipe=self.name,
            config=config,
            host=host,
            device=build.device,
            processor=processor,
            build=build,
            loss_fn=loss_fn,
        )

    @property
    def name(self) -> str:
        """The dotted name of the recipe's class."""
        return f"{type(self).__module__}.{type(self).__qualname__}"

    def preview_data(self, split: str, rows: int) -> DataPreview:
        """Return what ``automodel data preview`` shows: ``rows`` samples of ``split`` and figures over all of it.

        Nothing but the data is built. Raises :class:`InputError` (AM319) for a recipe that has no such thing.
        """
        message = f"the recipe `{type(self).__name__}` has no preview of its data"
        raise InputError(Diagnostic("AM319", message, self.config.span("recipe")))

    def checkpoint_to_restore(self) -> Checkpoint | None:
        """Return the checkpoint that ``restore_from.path`` names, or ``None``."""
        path = self.config.restore_from.path
        if path is None:
            return None
        home = Path(self.config.checkpoint.directory)
        span = self.config.span("restore_from.path")
        return open_checkpoint(path, span=span, default_directory=home, hashes=True)

    def run_train_validation_loop(self) -> None:
        """Run the training and validation loop to its end, and tell the observers how it ended."""
        self.host.notify("run_started", run=self.run)
        outcome = "failed"
        try:
            if self.run.scheduler.finished:
                self._say_nothing_left()
            with Preemption(self._preemption_signals()) as preemption:
                train(self.run, preemption)
            outcome = "finished"
        except PreemptedError:
            outcome = "preempted"
            raise
        finally:
            self.host.notify("run_finished", outcome=outcome)
            self._close_writer()

    def _close_writer(self) -> None:
        """Let other runs write to the checkpoint directory; a run that fails while it is set up does so too."""
        if self._writer is not None:
            self._writer.close()

    def _preemption_signals(self) -> Sequence[str]:
        names = self.config.step_scheduler.preemption_signal
        return [names] if isinstance(names, str) else names or []

    def _say_nothing_left(self) -> None:
        step = self.run.scheduler.step
        message = f"the run is finished at step {step}: nothing is left to train"
        helps = ("raise `step_scheduler.max_steps` or `step_scheduler.num_epochs` to go on",)
        warn([Diagnostic("AM920", message, helps=helps, severity="warning")])


def warn(warnings: Sequence[Diagnostic]) -> None:
    """Print warnings on stderr."""
    if warnings:
        print(render(warnings, sys.stderr), end="", file=sys.stderr, flush=True)


def run_recipe(
    recipe_class: type[BaseRecipe],
    config_path: str | os.PathLike[str] | Mapping[str, Any],
    *,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    plugins: Iterable[object] = (),
    plugin_files: Iterable[str | os.PathLike[str]] = (),
    catalog: Catalog | None = None,
) -> BaseRecipe:
    """Load the config, set up a recipe of ``recipe_class`` on a fresh host, run it, and return it.

    Raises :class:`InputError` for what is wrong with the input, and what the run raises.
    """
    catalog = Catalog.discover() if catalog is None else catalog
    recipe = make_recipe(
        recipe_class, config_path, overrides=overrides, plugins=plugins, plugin_files=plugin_files, catalog=catalog
    )
    if problems_of_files(recipe):
        raise InputError(all_problems(recipe))
    recipe.execute()
    return recipe


def make_recipe(
    recipe_class: type[BaseRecipe],
    config_path: str | os.PathLike[str] | Mapping[str, Any],
    *,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    plugins: Iterable[object] = (),
    plugin_files: Iterable[str | os.PathLike[str]] = (),
    catalog: Catalog,
) -> BaseRecipe:
    """Load the config, print its warnings, and return a recipe of ``recipe_class`` on a fresh host, not yet set up."""
    config = load_run_config(
        config_path,
        overrides=overrides,
        vocabulary=catalog.vocabulary(),
        required=recipe_class.required_sections,
        world_size=number_of_ranks() or 1,
        rules=(*RULES, sections_rule(catalog, declared_recipe(recipe_class, catalog))),
    )
    recipe_class = recipe_that_runs(config, recipe_class, catalog)
    warn([w for w in config.warnings if recipe_class.trains or w.code in SPELLING_WARNINGS])
    check_project_plugins(catalog.settings.project, config.source)
    return recipe_on_host(recipe_class, config, plugins=plugins, plugin_files=plugin_files, catalog=catalog)


def recipe_on_host(
    recipe_class: type[BaseRecipe],
    config: RunConfig,
    *,
    plugins: Iterable[object] = (),
    plugin_files: Iterable[str | os.PathLike[str]] = (),
    catalog: Catalog,
) -> BaseRecipe:
    """Return a recipe of ``recipe_class`` on a fresh host, not yet set up."""
    recipe = recipe_class(config)
    recipe.host = run_host(
        recipe,
        catalog=catalog,
        user_plugins=plugins,
        plugin_files=[Path(p) for p in plugin_files],
        core_plugins=(*load_core_defaults(), *observers(config)),
    )
    return recipe
