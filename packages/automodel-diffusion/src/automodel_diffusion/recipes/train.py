"""Training the denoiser of a pipeline by flow matching: from scratch, or on from a pipeline directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import attrs
import torch

from automodel_core.config import RunConfig
from automodel_core.data.loader import OrderedLoader
from automodel_core.diagnostics import Diagnostic
from automodel_core.diagnostics.placing import placed_at
from automodel_core.errors import InputError
from automodel_core.infrastructure.blueprint import ModelAdapter
from automodel_core.specs import NOTHING
from automodel_core.training.batches import Batch, StepLoss
from automodel_core.training.precision import check_precision
from automodel_core.training.recipe import BaseRecipe
from automodel_core.training.run_state import ModelState, RunState, Stateful
from automodel_diffusion.averaging import WeightAverage
from automodel_diffusion.data.rows import collate
from automodel_diffusion.flow.draws import DrawnDataset, FlowDraws, draw
from automodel_diffusion.flow.noise_levels import loss_weight
from automodel_diffusion.flow.path import on_path, sample_losses, velocity
from automodel_diffusion.models.adapter import DiffusersAdapter
from automodel_diffusion.models.denoisers import TRAIN_TIMESTEPS
from automodel_diffusion.models.parts import PipelineParts, load_parts
from automodel_diffusion.recipes.fitting import check_fit, check_parallel_scheme
from automodel_diffusion.sampling import conditions, grid, sample_images


class TrainDiffusionRecipe(BaseRecipe):
    """Predicts the velocity from data to noise; the autoencoder and the text encoders stay frozen."""

    required_sections: ClassVar[tuple[str, ...]] = ("model", "parallel_scheme", "dataset", "optimizer")

    def build_processor(self, config: RunConfig) -> PipelineParts:
        """Return the pipeline without its denoiser: the frozen parts and the scheduler."""
        component = config.model
        method = component.target.rpartition(".")[2]
        with placed_at(component.span, component.key_spans):
            parts = load_parts(method if method == "from_config" else "from_pretrained", component.kwargs)
        check_parallel_scheme(config, parts)
        with placed_at(config.span("sampling"), {}):
            conditions(config.sampling, parts.kind.conditioned_by)
        return parts

    def state_dict_adapter(self, model: torch.nn.Module) -> ModelAdapter:
        """Return the adapter of a denoiser that was made from a description."""
        return DiffusersAdapter({}, "unet")

    def build_dataloader(self, config: RunConfig, split: str, processor: Any) -> Any:
        """Return batches whose noise is a function of the seed, the epoch and the sample."""
        loader = super().build_dataloader(config, split, processor)
        if loader is NOTHING:
            return NOTHING
        return attrs.evolve(loader, dataset=DrawnDataset(loader.dataset, config.rng.seed))

    def build_collate(self) -> Any:
        """Return what stacks drawn examples."""
        return collate

    def build_loss_fn(self, config: RunConfig) -> Any:
        """Return the loss of each sample; no other is known to flow matching."""
        if config.loss_fn is not None:
            helps = ("remove `loss_fn`; `flow_matching.weighting` weighs noise levels",)
            message = "flow matching has one loss, the squared error of the velocity"
            raise InputError(Diagnostic("AM476", message, config.loss_fn.span, helps=helps))
        return sample_losses

    def check_before_training(self, state: ModelState, loader: OrderedLoader) -> None:
        """Try one sample and the pipeline: whether sizes and scheduler fit shows only then."""
        self._try_one_sample(state, loader)
        self._try_sampling(state)

    def check_before_weights(self, state: ModelState, loader: OrderedLoader) -> None:
        """Check that data, denoiser and conditions fit each other, and the precision."""
        check_fit(state, loader)
        check_precision(state.model, self.config.model.span)

    def _try_one_sample(self, state: ModelState, loader: OrderedLoader) -> None:
        """Raise :class:`InputError` (AM477) for samples of a size that the denoiser cannot take to pieces and back."""
        one = attrs.evolve(loader, batch_size=1).first_batch()
        try:
            with torch.random.fork_rng(devices=[]), torch.no_grad():
                self.batch_loss(state, one)
        except (RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())
            message = f"the denoiser cannot take samples of this size: {reason}"
            helps = ("change `dataset.size`: usually to a multiple of what the denoiser divides the edge by",)
            place = self.config.span("dataset.size") or self.config.dataset.span
            raise InputError(Diagnostic("AM477", message, place, helps=helps)) from error

    def _try_sampling(self, state: ModelState) -> None:
        """Raise :class:`InputError` (AM472) when the pipeline cannot sample: training must not end in finding out."""
        few = attrs.evolve(self.config.sampling, per_condition=1, num_inference_steps=2, batch_size=1)
        kind, parts = state.processor.kind.conditioned_by, state.processor
        wanted = conditions(few, kind)[:1]
        if not wanted:
            return
        one = attrs.evolve(few, labels=wanted if kind == "label" else [], prompts=[] if kind == "label" else wanted)
        training = state.model.training
        try:
            with torch.random.fork_rng(devices=[]):
                sample_images(parts.with_denoiser(state.model.eval()), one, kind)
        except Exception as error:  # the library's own code: a scheduler and a pipeline that do not fit each other
            reason = " ".join(str(error).split()) or type(error).__name__
            names = f"`{type(parts.pipeline).__name__}` with `{type(parts.pipeline.scheduler).__name__}`"
            place = self.config.span("sampling")
            helps = ("name another `model.scheduler`, or remove `sampling`",)
            message = f"{names} cannot sample: {reason}"
            raise InputError(Diagnostic("AM472", message, place, helps=helps)) from error
        finally:
            state.model.train(training)

    def build_model_state(self, processor: Any, checkpoint: Any) -> ModelState:
        """Build the denoiser through the stages, and put the frozen parts beside it."""
        state = super().build_model_state(processor, checkpoint)
        processor.place_on(state.device)
        return state

    def count_targets(self, batch: Batch) -> int:
        """Return the number of samples."""
        return len(batch["seeds"])

    def batch_loss(self, run: ModelState, batch: Batch) -> StepLoss:
        """Return the summed loss over the samples of ``batch``, each weighed by its noise level."""
        settings, parts = run.config.flow_matching, run.processor
        data = _data(parts, run, batch)
        draws = draw(settings, batch["seeds"], data.shape[1:])
        levels, noise = draws.levels.to(run.device), draws.noise.to(run.device, data.dtype)
        condition = _condition(parts, run, batch, draws)
        noisy = on_path(data, noise, levels)
        predicted = parts.kind.call(run.model, noisy, levels * TRAIN_TIMESTEPS, condition)
        losses = run.loss_fn(predicted, velocity(data, noise)) * loss_weight(settings, levels)
        return StepLoss(losses.sum(), len(data), len(data), len(data))

    def evaluate(self, run: ModelState, batch: Batch) -> StepLoss:
        """Return the loss of a validation batch, of the averaged weights where there are any."""
        with shown_weights(run):
            return self.batch_loss(run, batch)

    def stateful_parts(self, run: RunState) -> Mapping[str, Stateful]:
        """Return the average of the weights, when ``ema.decay`` asks for one."""
        ema = run.config.ema
        if ema.decay is None:
            return {}
        return {"ema": WeightAverage(run.model, run.optimizer, decay=ema.decay, warmup=ema.warmup)}

    def exported_weights(self, run: ModelState) -> Mapping[str, torch.Tensor]:
        """Return the averaged weights where there are any: what is sampled from."""
        weights = dict(run.model.state_dict(keep_vars=True))
        average = _average(run)
        return weights if average is None else average.over(weights)

    def export_model(self, run: ModelState, directory: str) -> bool:
        """Write the rest of the pipeline beside the denoiser, so that diffusers loads the directory."""
        run.processor.save(Path(directory))
        return True

    def measure(self, run: ModelState, name: str, loader: OrderedLoader) -> Mapping[str, float]:
        """Draw the grid of samples; a validation of a flow has no figure beside its loss."""
        self.save_grid(run)
        return {}

    def run_train_validation_loop(self) -> None:
        """Train, and draw the grid of the last step when no validation did."""
        super().run_train_validation_loop()
        self.save_grid(self.run)

    def save_grid(self, run: ModelState) -> Path | None:
        """Write ``samples/step-N.png`` beside the record, unless it is there or nothing is to be sampled."""
        step = run.scheduler.step if isinstance(run, RunState) else 0
        config = run.config
        path = Path(config.logging.directory or config.checkpoint.directory, "samples", f"step-{step}.png")
        if path.exists() or not conditions(config.sampling, run.processor.kind.conditioned_by):
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        grid(sampled(run), config.sampling.columns).save(path)
        return path


def sampled(run: ModelState) -> list[Any]:
    """Return images of the conditions in ``sampling``, from the weights that a checkpoint shows."""
    parts, training = run.processor, run.model.training
    run.model.eval()
    try:
        with shown_weights(run):
            return sample_images(parts.with_denoiser(run.model), run.config.sampling, parts.kind.conditioned_by)
    finally:
        run.model.train(training)


@contextmanager
def shown_weights(run: ModelState) -> Iterator[None]:
    """Let the model have its averaged weights meanwhile, where there are any."""
    average = _average(run)
    if average is None:
        yield
        return
    with average.shown():
        yield


def _average(run: ModelState) -> WeightAverage | None:
    found = run.parts.get("ema") if isinstance(run, RunState) else None
    return found if isinstance(found, WeightAverage) else None


def _data(parts: PipelineParts, run: ModelState, batch: Batch) -> torch.Tensor:
    """Return what the denoiser sees of the samples (B, C, H, W): latents, or pixels where there is no autoencoder."""
    if "latents" in batch:
        latents: torch.Tensor = batch["latents"].to(run.device)
        return latents
    with torch.no_grad():
        return parts.to_latents(batch["images"].to(run.device))


def _condition(parts: PipelineParts, run: ModelState, batch: Batch, draws: FlowDraws) -> Any:
    """Return what the denoiser is told of each sample, with nothing in the place of what is dropped."""
    if parts.kind.conditioned_by == "label":
        nothing = parts.kind.no_label(run.model.config)
        labels = batch["labels"].to(run.device)
        return labels if nothing is None else torch.where(draws.drop.to(run.device), nothing, labels)
    captions = ["" if drop else text for text, drop in zip(batch["captions"], draws.drop.tolist(), strict=True)]
    with torch.no_grad():
        return parts.encode_texts(captions, run.device)


main = TrainDiffusionRecipe.main
