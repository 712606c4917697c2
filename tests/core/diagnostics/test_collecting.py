"""Everything that is wrong with attempts that do not depend on each other."""

from __future__ import annotations

import pytest

from automodel_core.diagnostics import Diagnostic
from automodel_core.diagnostics.collecting import Problems
from automodel_core.errors import InputError

ONE, TWO = Diagnostic("AM301", "one"), Diagnostic("AM401", "two")


def test_the_next_attempt_is_made_and_each_problem_is_said_once() -> None:
    problems = Problems()
    problems.report()
    for found in ([ONE], [TWO, ONE], []):
        with problems.collected():
            if found:
                raise InputError(found)
    with pytest.raises(InputError) as error:
        problems.report()
    assert error.value.diagnostics == (ONE, TWO)


def test_another_exception_is_not_kept() -> None:
    problems = Problems()
    with pytest.raises(KeyError), problems.collected():
        raise KeyError("a bug")
    assert problems.found == []
