"""The arithmetic of progress, against counting by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from automodel_core.training.step_scheduler import StepLimits, StepScheduler

counts = st.integers(1, 12)
maybe = st.none() | st.integers(1, 30)


def all_groups(scheduler: StepScheduler) -> list:
    groups = []
    for group in scheduler.groups():
        groups.append(group)
        scheduler.advance(group)
    return groups


def by_hand(micro_batches: int, accumulation: int, max_steps: int | None, num_epochs: int | None) -> list:
    """(epoch, first, count) of each step, written as the loops that one would write."""
    epochs = num_epochs if num_epochs is not None else (1 if max_steps is None else 10**6)
    steps: list[tuple[int, int, int]] = []
    for epoch in range(epochs):
        for first in range(0, micro_batches, accumulation):
            if max_steps is not None and len(steps) == max_steps:
                return steps
            steps.append((epoch, first, min(accumulation, micro_batches - first)))
    return steps


@given(counts, counts, maybe, st.none() | st.integers(1, 4))
def test_the_groups_are_those_of_the_nested_loops(micro_batches, accumulation, max_steps, num_epochs):
    scheduler = StepScheduler(StepLimits(max_steps, num_epochs, accumulation), micro_batches)
    total = scheduler.total_steps
    groups = all_groups(scheduler)
    assert [(g.epoch, g.first, g.count) for g in groups] == by_hand(micro_batches, accumulation, max_steps, num_epochs)
    assert [g.step for g in groups] == list(range(1, total + 1))
    assert scheduler.finished
    assert scheduler.next_group() is None


@given(counts, counts, maybe, st.none() | st.integers(1, 4), st.data())
def test_a_run_split_anywhere_takes_the_same_groups(micro_batches, accumulation, max_steps, num_epochs, data):
    limits = StepLimits(max_steps, num_epochs, accumulation)
    whole = all_groups(StepScheduler(limits, micro_batches))
    cut = data.draw(st.integers(0, len(whole)))
    first = StepScheduler(limits, micro_batches)
    for group in whole[:cut]:
        first.advance(group)
    second = StepScheduler(limits, micro_batches)
    second.load_state_dict(first.state_dict())
    assert second.total_steps == len(whole)
    assert all_groups(second) == whole[cut:]


@given(counts, counts, maybe, st.none() | st.integers(1, 4), counts, counts, counts)
def test_intervals_fire_on_their_multiples_and_the_last_step_always_saves(
    micro_batches, accumulation, max_steps, num_epochs, validation, checkpoint, log
):
    limits = StepLimits(max_steps, num_epochs, accumulation, validation, checkpoint, log)
    scheduler = StepScheduler(limits, micro_batches)
    total = scheduler.total_steps
    for group in scheduler.groups():
        scheduler.advance(group)
        last = group.step == total
        assert scheduler.validation_due() == (group.step % validation == 0 or last)
        assert scheduler.checkpoint_due() == (group.step % checkpoint == 0 or last)
        assert scheduler.log_due() == (group.step % log == 0 or last or group.step == 1)


@given(counts, counts, st.integers(1, 4))
def test_every_micro_batch_of_an_epoch_is_in_exactly_one_group(micro_batches, accumulation, num_epochs):
    scheduler = StepScheduler(StepLimits(None, num_epochs, accumulation), micro_batches)
    seen = [(g.epoch, m) for g in all_groups(scheduler) for m in range(g.first, g.first + g.count)]
    assert seen == [(e, m) for e in range(num_epochs) for m in range(micro_batches)]
