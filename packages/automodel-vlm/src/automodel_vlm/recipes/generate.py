"""``automodel generate vlm``: what a model answers to a prompt about images."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from automodel_core.data.image_files import read_image
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.training.validation import evaluation_mode
from automodel_llm.data.chat.conversation import Conversation
from automodel_llm.data.chat.template import ChatTemplate
from automodel_vlm.data.visual_messages import PLACEHOLDER, with_parts
from automodel_vlm.recipes.finetune import FinetuneRecipe, answer


class GenerateRecipe(FinetuneRecipe):
    """Prints what the model answers to ``generation.prompt`` about ``visual_prompt.images``."""

    required_sections: ClassVar[tuple[str, ...]] = ("model",)
    trains: ClassVar[bool] = False
    splits: ClassVar[tuple[str, ...]] = ()
    answer: str

    def execute(self) -> None:
        """Build the model, generate, print."""
        config = self.config
        if not config.generation.prompt:
            helps = ('write `--prompt "…"`, or `generation.prompt` in the config',)
            raise InputError(Diagnostic("AM350", "there is no prompt", config.span("generation.prompt"), helps=helps))
        checkpoint, processor = self.begin()
        inputs = self._inputs(processor)
        state = self.build_model_state(processor, checkpoint)
        with evaluation_mode(state.model):
            ids = answer(state, inputs, config.generation.max_new_tokens)
        self.answer = processor.tokenizer.decode(ids, skip_special_tokens=True).strip()
        print(self.answer)

    def _inputs(self, processor: Any) -> dict[str, Any]:
        named = self.config.visual_prompt.images
        files = [named] if isinstance(named, str) else named or []
        images = [read_image(Path(file).expanduser(), "RGB", "") for file in files]
        prompt = self.config.generation.prompt
        if PLACEHOLDER not in prompt:
            prompt = PLACEHOLDER * len(images) + prompt
        places = prompt.count(PLACEHOLDER)
        if places != len(images):
            message = f"the prompt has places for {places} images, and {len(images)} are given"
            raise InputError(Diagnostic("AM373", message, helps=("give each with `--image FILE`",)))
        messages = [with_parts("user", prompt)]
        system = self.config.generation.system
        if system is not None:
            messages.insert(0, with_parts("system", system))
        conversation = Conversation("the prompt", tuple(messages), ())
        template = ChatTemplate(processor.tokenizer, processor.chat_template)
        text = template.render(conversation, messages, generation_prompt=True)
        shown = {"images": [images]} if images else {}
        return dict(processor(text=[text], add_special_tokens=False, return_tensors="pt", **shown))


main = GenerateRecipe.main
