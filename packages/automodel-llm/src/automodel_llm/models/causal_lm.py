"""Causal language models of every architecture that transformers knows."""

from __future__ import annotations

from typing import ClassVar

from automodel_core.adapters.model_class import TransformersModelClass


class AutoModelForCausalLM(TransformersModelClass):
    """A causal language model from a directory, a hub id or a configuration.

    The architecture is the one that ``config.json`` names, whatever name this class was called by.
    """

    auto_class: ClassVar[str] = "AutoModelForCausalLM"
