"""What the answers to builders must be able to do, as far as that can be seen at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from automodel_core.specs import NOTHING


@attrs.frozen
class Answer:
    """What a hook must be answered with, as words after "must be", and the test, given the hook's arguments."""

    words: str
    holds: Callable[[Any, Mapping[str, Any]], bool] = attrs.field(repr=False)


def _is_loader(answer: Any, arguments: Mapping[str, Any]) -> bool:
    from automodel_core.data.loader import OrderedLoader  # torch: only where data is read

    return isinstance(answer, OrderedLoader) or (answer is NOTHING and arguments.get("split") != "train")


ANSWERS: Mapping[str, Answer] = MappingProxyType(
    {
        "build_optimizer": Answer(
            "an optimizer, with `step` and `param_groups`",
            lambda answer, _: callable(getattr(answer, "step", None)) and hasattr(answer, "param_groups"),
        ),
        "build_lr_scheduler": Answer(
            "a schedule with `step`, or `NOTHING`",
            lambda answer, _: answer is NOTHING or callable(getattr(answer, "step", None)),
        ),
        "build_dataloader": Answer("an `OrderedLoader`; `NOTHING` is for other splits than `train`", _is_loader),
        "build_loss_fn": Answer("a callable", lambda answer, _: callable(answer)),
    }
)
"""By hook. One that is not here may be answered with anything."""


def answer_problem(hook: str, answer: Any, arguments: Mapping[str, Any]) -> str | None:
    """Return what is wrong with an answer that is not ``None``, or ``None``."""
    wanted = ANSWERS.get(hook)
    if wanted is None or wanted.holds(answer, arguments):
        return None
    held = "NOTHING" if answer is NOTHING else type(answer).__name__
    return f"the answer must be {wanted.words}, not `{held}`"
