"""The sections that the vlm domain adds to a config."""

from __future__ import annotations

import attrs

from automodel_core.config.options import NOT_EMPTY, option


@attrs.frozen
class Processor:
    """What turns images and text into what the model takes; it stands where other domains have ``tokenizer``."""

    name_or_path: str | None = option(None, "Null: the model's.", NOT_EMPTY)
    trust_remote_code: bool = option(False, "Run Python code that the processor's directory or hub id brings.")


@attrs.frozen
class VisualPrompt:
    """The images that ``automodel generate vlm`` shows before the prompt."""

    images: str | list[str] | None = option(None, "An image file, or a list of them.", NOT_EMPTY)  # noqa: RUF009
