"""Events: every observer is called, whatever the others do."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from automodel_core.hookspecs import hookimpl
from automodel_core.plugins import run_host


class Sees:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    @hookimpl
    def step_finished(self, sample: Any) -> None:
        self.seen.append(sample)


class Fails:
    @hookimpl
    def step_finished(self) -> None:
        raise ValueError("observer broke")


def test_a_failing_observer_is_reported_once_and_stops_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = Sees(), Sees()
    host = run_host(None, user_plugins=[before, Fails(), after], core_plugins=[])
    host.notify("step_finished", sample=1)
    host.notify("step_finished", sample=2)

    assert before.seen == after.seen == [1, 2]
    reported = capsys.readouterr().err
    assert reported.count("plugin `Fails` failed in `step_finished`") == 1
    assert "ValueError: observer broke" in reported


def test_strict_plugins_let_the_failure_through_with_its_owner() -> None:
    host = run_host(None, user_plugins=[Fails()], core_plugins=[], strict=True)
    with pytest.raises(ValueError, match="observer broke") as caught:
        host.notify("step_finished", sample=1)
    assert caught.value.__notes__ == ["in hook `step_finished` of plugin `Fails`"]


def test_a_wrapper_runs_around_every_observer_even_a_failing_one(capsys: pytest.CaptureFixture[str]) -> None:
    order: list[str] = []

    class Around:
        @hookimpl(wrapper=True)
        def step_finished(self) -> Generator[None, Any, Any]:
            order.append("before")
            yield
            order.append("after")

    class Inside:
        @hookimpl
        def step_finished(self) -> None:
            order.append("inside")

    host = run_host(Around(), user_plugins=[Inside(), Fails()], core_plugins=[])
    host.notify("step_finished", sample=None)
    assert order == ["before", "inside", "after"]
    assert "Fails" in capsys.readouterr().err


def test_a_wrapper_that_fails_before_or_after_its_yield_is_reported_and_stops_nobody(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class FailsEarly:
        @hookimpl(wrapper=True)
        def step_finished(self) -> Generator[None, Any, Any]:
            raise ValueError("early")
            yield

    class FailsLate:
        @hookimpl(wrapper=True)
        def step_finished(self) -> Generator[None, Any, Any]:
            yield
            raise ValueError("late")

    sees = Sees()
    run_host(None, user_plugins=[sees, FailsEarly(), FailsLate()], core_plugins=[]).notify("step_finished", sample=7)
    assert sees.seen == [7]
    reported = capsys.readouterr().err
    assert "early" in reported
    assert "late" in reported


def test_what_observers_return_is_ignored() -> None:
    class Returns:
        @hookimpl
        def run_finished(self, outcome: str) -> Any:
            return "not None"

    sees: list[str] = []

    class Later:
        @hookimpl
        def run_finished(self, outcome: str) -> None:
            sees.append(outcome)

    run_host(Later(), user_plugins=[Returns()], core_plugins=[]).notify("run_finished", outcome="finished")
    assert sees == ["finished"]


def test_an_interrupt_in_an_observer_is_not_swallowed() -> None:
    class Interrupts:
        @hookimpl
        def step_finished(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_host(None, user_plugins=[Interrupts()], core_plugins=[]).notify("step_finished", sample=1)
