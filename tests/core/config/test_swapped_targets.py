"""An override that replaces a target says what the file has that the new one does not take."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from automodel_core.diagnostics import Diagnostic

Problems = Callable[..., tuple[Diagnostic, ...]]

ADAM = """\
optimizer:
  _target_: torch.optim.AdamW
  lr: 0.1
  betas: [0.9, 0.95]
  eps: 1.0e-8
"""
SGD = "optimizer._target_=torch.optim.SGD"


def test_one_error_names_all_that_is_left_over_and_how_to_delete_it(problems: Problems) -> None:
    (found,) = problems(ADAM, SGD)
    assert found.span is not None
    assert (found.code, str(found.span)) == ("AM115", "<command line>:1:1")
    assert found.message == (
        "`torch.optim.SGD` does not take `optimizer.betas`, `optimizer.eps`, "
        "which the config has for `torch.optim.AdamW`"
    )
    assert found.helps == ("to delete what it does not take, add `~optimizer.betas` `~optimizer.eps`",)


@pytest.mark.parametrize(
    "words",
    [
        (SGD, "~optimizer.betas", "~optimizer.eps"),
        ("~optimizer.betas", "~optimizer.eps", SGD, "optimizer.momentum=0.9"),
        ("optimizer._target_=torch.optim.Adam",),
        ("optimizer={_target_: torch.optim.SGD, lr: 0.1}",),
    ],
)
def test_what_the_new_target_takes_is_fine(problems: Problems, words: tuple[str, ...]) -> None:
    assert problems(ADAM, *words) == ()


def test_a_component_inside_another_is_one_too(problems: Problems, parts: str) -> None:
    text = f"dataset:\n  _target_: tiny.Dataset\n  transform:\n    _target_: {parts}.scale\n    factor: 2\n"
    (found,) = problems(text, f"dataset.transform._target_={parts}.fails")
    assert (found.code, found.helps) == (
        "AM115",
        ("to delete what it does not take, add `~dataset.transform.factor`",),
    )


def test_a_target_whose_source_does_not_tell_is_left_to_the_run(problems: Problems, parts: str) -> None:
    assert problems(f"loss_fn: {{_target_: {parts}.scale, factor: 2}}", f"loss_fn._target_={parts}.tripled") == ()
