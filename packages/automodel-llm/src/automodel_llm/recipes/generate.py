"""``automodel generate llm``: text from a model, a checkpoint or an adapter."""

from __future__ import annotations

from typing import ClassVar

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.specs import NOTHING
from automodel_llm.generation import generate_ids, prompt_ids
from automodel_llm.recipes.train_ft import TrainFinetuneRecipe


class GenerateRecipe(TrainFinetuneRecipe):
    """Prints what the model answers to ``generation.prompt``."""

    required_sections: ClassVar[tuple[str, ...]] = ("model",)
    trains: ClassVar[bool] = False
    splits: ClassVar[tuple[str, ...]] = ()
    answer: str

    def execute(self) -> None:
        """Build the model, generate, print."""
        config = self.config
        settings = config.generation
        if not settings.prompt:
            message = "there is no prompt"
            helps = ('write `--prompt "…"`, or `generation.prompt` in the config',)
            raise InputError(Diagnostic("AM350", message, config.span("generation.prompt"), helps=helps))
        checkpoint, processor = self.begin()
        if processor is NOTHING:
            helps = ("name one in `tokenizer.name_or_path`",)
            raise InputError(Diagnostic("AM310", "the model has no tokenizer", config.model.span, helps=helps))
        state = self.build_model_state(processor, checkpoint)
        ids = generate_ids(state, prompt_ids(processor, settings), settings)
        self.answer = processor.decode(ids, skip_special_tokens=True).strip()
        print(self.answer)


main = GenerateRecipe.main
