import pytest

from automodel_core.training.step_scheduler import Group, StepLimits, StepScheduler


def test_without_any_limit_the_run_is_one_epoch():
    assert StepScheduler(StepLimits(), 5).total_steps == 5


@pytest.mark.parametrize(
    ("max_steps", "num_epochs", "steps"),
    [(3, None, 3), (None, 2, 6), (3, 2, 3), (100, 2, 6), (7, None, 7)],
)
def test_whichever_of_steps_and_epochs_ends_first_ends_the_run(max_steps, num_epochs, steps):
    """Five micro-batches accumulated two at a time are three steps an epoch."""
    assert StepScheduler(StepLimits(max_steps, num_epochs, 2), 5).total_steps == steps


def test_the_trailing_partial_group_is_a_step():
    scheduler = StepScheduler(StepLimits(num_epochs=1, grad_accumulation_steps=2), 5)
    groups = []
    for group in scheduler.groups():
        groups.append(group)
        scheduler.advance(group)
    assert groups == [Group(1, 0, 0, 2), Group(2, 0, 2, 2), Group(3, 0, 4, 1)]


def test_without_intervals_nothing_is_due_but_the_last_checkpoint():
    scheduler = StepScheduler(StepLimits(max_steps=2), 2)
    scheduler.advance(Group(1, 0, 0, 1))
    assert (scheduler.validation_due(), scheduler.checkpoint_due()) == (False, False)
    scheduler.advance(Group(2, 0, 1, 1))
    assert (scheduler.validation_due(), scheduler.checkpoint_due()) == (False, True)


def test_nothing_is_due_before_the_first_step():
    scheduler = StepScheduler(StepLimits(max_steps=2, val_check_interval=1, checkpoint_interval=1), 2)
    assert (scheduler.validation_due(), scheduler.checkpoint_due(), scheduler.log_due()) == (False, False, False)


def test_a_group_that_does_not_follow_is_refused():
    scheduler = StepScheduler(StepLimits(max_steps=2), 2)
    with pytest.raises(ValueError, match="does not follow"):
        scheduler.advance(Group(2, 0, 1, 1))


def test_a_loop_that_forgets_to_advance_is_told():
    scheduler = StepScheduler(StepLimits(max_steps=2), 2)
    groups = scheduler.groups()
    next(groups)
    with pytest.raises(RuntimeError, match="was not taken"):
        next(groups)


def test_more_steps_may_be_asked_of_a_resumed_run():
    first = StepScheduler(StepLimits(max_steps=2), 4)
    for group in first.groups():
        first.advance(group)
    second = StepScheduler(StepLimits(max_steps=5), 4)
    second.load_state_dict(first.state_dict())
    assert second.next_group() == Group(3, 0, 2, 1)


@pytest.mark.parametrize("limits", [{"max_steps": 0}, {"grad_accumulation_steps": 0}, {"log_interval": -1}])
def test_limits_below_one_are_refused(limits):
    with pytest.raises(ValueError, match="must be at least 1"):
        StepLimits(**limits)


def test_a_position_outside_the_epoch_is_refused():
    with pytest.raises(ValueError, match="does not exist"):
        StepScheduler(StepLimits(), 3).load_state_dict({"step": 1, "epoch": 0, "micro_batch": 3})
