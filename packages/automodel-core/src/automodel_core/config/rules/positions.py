"""The longest sample that data may have, against the positions that the model was made for."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.config.component import Component
from automodel_core.config.rules.rule import Situation
from automodel_core.diagnostics import Diagnostic


def samples_beyond_positions(situation: Situation) -> Iterator[Diagnostic]:
    """``dataset.max_seq_length`` is no more than the positions of the model.

    No sample need be that long: once the data are read, the longest one decides whether that is an error.
    """
    config = situation.config
    dataset, known = config.sections.get("dataset"), situation.model.longest_sequence
    length = dataset.kwargs.get("max_seq_length") if isinstance(dataset, Component) else None
    if type(length) is not int or known is None or length <= known:
        return
    message = f"samples may have {length} tokens, and the model was made for {known} positions"
    helps = (f"set `dataset.max_seq_length: {known}`", "or choose a model for longer sequences")
    span = config.span("dataset.max_seq_length")
    yield Diagnostic("AM934", message, span, f"more than {known}", helps, severity="warning")
