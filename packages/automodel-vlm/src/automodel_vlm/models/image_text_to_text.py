"""Models that read images and text, and write text."""

from __future__ import annotations

from typing import ClassVar

from automodel_core.adapters.model_class import TransformersModelClass


class AutoModelForImageTextToText(TransformersModelClass):
    """Any image-text-to-text model that transformers knows: from a directory, a hub id, or a configuration."""

    auto_class: ClassVar[str] = "AutoModelForImageTextToText"
