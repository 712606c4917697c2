"""``automodel generate diffusion``: images of a pipeline or a checkpoint, as files and as a grid."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from automodel_core.diagnostics import Diagnostic
from automodel_core.diagnostics.writing import writing_to
from automodel_core.errors import InputError
from automodel_diffusion.recipes.fitting import check_sampling
from automodel_diffusion.recipes.train import TrainDiffusionRecipe, sampled
from automodel_diffusion.sampling import conditions, grid


class GenerateDiffusionRecipe(TrainDiffusionRecipe):
    """Samples what ``sampling`` names."""

    required_sections: ClassVar[tuple[str, ...]] = ("model", "parallel_scheme")
    trains: ClassVar[bool] = False
    splits: ClassVar[tuple[str, ...]] = ()

    def execute(self) -> None:
        """Build the denoiser, sample, write, print where."""
        settings = self.config.sampling
        checkpoint, processor = self.begin()
        wanted = conditions(settings, processor.kind.conditioned_by)
        if not wanted:
            key = "labels" if processor.kind.conditioned_by == "label" else "prompts"
            message = "there is nothing to sample"
            helps = (f"name `sampling.{key}`",)
            raise InputError(Diagnostic("AM475", message, self.config.span("sampling"), helps=helps))
        state = self.build_model_state(processor, checkpoint)
        check_sampling(state)
        directory = Path(settings.output or "samples")
        place = self.config.span("sampling.output")
        with writing_to(directory, "sampling.output", place):
            images = sampled(state)
            for number, image in enumerate(images):
                image.save(directory / f"{number:05d}.png")
            grid(images, settings.columns).save(directory / "grid.png")
        print(f"{len(images)} images in {directory}, all of them in {directory / 'grid.png'}")


main = GenerateDiffusionRecipe.main
